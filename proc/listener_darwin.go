package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// lsofLimit is the time limit of one run of lsof, which takes some 50 ms.
const lsofLimit = 2 * time.Second

// listeners returns the sockets that accept connections on a port, by lsof. Unless it runs as
// root, lsof shows only sockets of this user's processes.
func listeners(port uint16) ([]listener, error) {
	output, err := runLsof("-a", "-i", "TCP:"+strconv.Itoa(int(port)), "-s", "TCP:LISTEN", "-F", "pun")
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // status 1: it found none
		return nil, err
	}
	return parseLsofListeners(output, os.Getuid()), nil
}

// runLsof runs lsof for at most lsofLimit. -b and -w keep it from blocking on dead
// network mounts and from warning about that.
func runLsof(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lsofLimit)
	defer cancel()
	output, err := exec.CommandContext(ctx, "/usr/sbin/lsof", append([]string{"-b", "-w", "-n", "-P"}, args...)...).Output()
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrUnsupported
	}
	if err != nil {
		err = fmt.Errorf("lsof: %w", err)
	}
	return string(output), err
}

// parseLsofListeners parses the output of "lsof -F pun": of each process its pid
// and user, then of each socket its address.
func parseLsofListeners(output string, user int) []listener {
	var list []listener
	var process listener
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		switch value := line[1:]; line[0] {
		case 'p':
			process = listener{}
			process.holder, _ = strconv.ParseUint(value, 10, 32)
		case 'u':
			uid, err := strconv.Atoi(value)
			process.own, process.root = err == nil && uid == user, err == nil && uid == 0
		case 'n':
			value = strings.Replace(value, "*:", "[::]:", 1)
			if local, err := netip.ParseAddrPort(value); err == nil {
				l := process
				l.local = local
				list = append(list, l)
			}
		}
	}
	return list
}
