//go:build linux

package desktoptest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// startSession starts the programs of the session and returns when its tray takes icons.
func (d *Desktop) startSession(ctx context.Context) error {
	s := d.opts.Session
	for name, text := range s.Files {
		path := filepath.Join(d.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := d.startX(ctx); err != nil {
		return err
	}
	if err := d.startBus(ctx); err != nil {
		return err
	}
	if s.SystemBus {
		if err := d.startSystemBus(ctx); err != nil {
			return err
		}
	}
	var last *process
	for _, program := range s.Programs {
		p, err := d.start(nil, d.Env(), program.Argv...)
		if err != nil {
			return err
		}
		last = p
		if program.Name == "" {
			continue
		}
		if err := d.until(ctx, program.Name, p, func() (bool, error) { return d.owned(program.Name) }); err != nil {
			return err
		}
	}
	return d.until(ctx, "tray of "+s.Name, last, d.hosted)
}

func (d *Desktop) systemSocket() string { return filepath.Join(d.dir, "run", "system") }

// startSystemBus starts a bus in place of the system's, with stand-ins for the services without which GNOME Shell does not start.
func (d *Desktop) startSystemBus(ctx context.Context) error {
	config := filepath.Join(d.dir, "system.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, BusConfig, d.systemSocket()), 0o600); err != nil {
		return err
	}
	if _, _, err := d.startTold(ctx, "dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", "--config-file="+config, "--print-address=3"); err != nil {
		return err
	}
	for _, template := range []string{"logind", "upower"} {
		if _, err := d.start(nil, d.Env(), "/usr/bin/python3", "-m", "dbusmock", "--system", "--template", template); err != nil {
			return err
		}
	}
	return nil
}
