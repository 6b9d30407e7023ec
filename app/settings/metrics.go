package settings

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
)

// Metrics configures the metrics for Prometheus that the keeper provides. There are none unless Listen or Textfile is set.
type Metrics struct {
	// Listen is the address at which they are served over HTTP, such as 127.0.0.1:9417. It must be one of this machine
	// alone, unless AllowRemote is set.
	Listen      string `toml:"listen"`
	AllowRemote bool   `toml:"allow_remote"`
	// Textfile is the path of a file that is replaced every 15 s.
	Textfile string `toml:"textfile"`
}

// IsSet reports whether the settings ask for metrics.
func (m *Metrics) IsSet() bool { return m.Listen != "" || m.Textfile != "" }

// check returns what is wrong, and removes those values.
func (m *Metrics) check(path string) error {
	var bad []error
	if err := m.checkListen(); err != nil {
		bad = append(bad, fmt.Errorf("settings: %s: metrics.listen is ignored: %w", path, err))
		m.Listen = ""
	}
	if f := m.Textfile; f != "" && !filepath.IsAbs(f) && !strings.HasPrefix(f, "~/") {
		bad = append(bad, fmt.Errorf("settings: %s: metrics.textfile is ignored: %q is not an absolute path", path, f))
		m.Textfile = ""
	}
	return errors.Join(bad...)
}

func (m *Metrics) checkListen() error {
	if m.Listen == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(m.Listen)
	if err != nil {
		return fmt.Errorf("%q is not an address with a port, such as 127.0.0.1:9417", m.Listen)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("%q has no port from 1 to 65535", m.Listen)
	}
	if !IsLoopback(host) && !m.AllowRemote {
		return fmt.Errorf("other machines could read %s; use 127.0.0.1:%s, or set allow_remote = true", m.Listen, port)
	}
	return nil
}

// IsLoopback reports whether a host is an address of this machine that other machines can't reach.
func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
