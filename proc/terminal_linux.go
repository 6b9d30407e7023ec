package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Terminal returns the device of the controlling terminal of a process, such as "/dev/pts/3"; empty: it has none, like an
// agent that was started in the background in a session of its own.
func (t *Table) Terminal(id Identity) (string, error) {
	return detail(t, id, func() (string, error) {
		b, err := readAll(t.path(id.PID, "stat"), 1<<20)
		if err != nil {
			return "", err
		}
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		const fieldTerminal = 4 // after the comm
		if len(fields) <= fieldTerminal {
			return "", errStat
		}
		number, err := strconv.ParseInt(fields[fieldTerminal], 10, 64)
		if err != nil {
			return "", fmt.Errorf("%w: field 7 is not a number", errStat)
		}
		return terminalName(uint64(uint32(number))), nil
	})
}

// The device numbers of terminals, by Documentation/admin-guide/devices.txt of Linux.
const (
	majorConsole  = 4   // /dev/tty1 to /dev/tty63
	majorPTYFirst = 136 // /dev/pts, 256 for each major number
	majorPTYLast  = 143
	consoles      = 64
)

// terminalName returns the device with a number of /proc/PID/stat; empty: 0.
func terminalName(number uint64) string {
	if number == 0 {
		return ""
	}
	major, minor := unix.Major(number), unix.Minor(number)
	switch {
	case major >= majorPTYFirst && major <= majorPTYLast:
		return fmt.Sprintf("/dev/pts/%d", (major-majorPTYFirst)<<8+minor)
	case major == majorConsole && minor > 0 && minor < consoles:
		return fmt.Sprintf("/dev/tty%d", minor)
	}
	return fmt.Sprintf("terminal %d:%d", major, minor)
}

// OpenTerminals returns the pseudo-terminals that a process has open by their names, each once: those on which a terminal
// multiplexer shows what runs in it.
func (t *Table) OpenTerminals(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) {
		folder := t.path(id.PID, "fd")
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		var list []string
		seen := map[string]bool{}
		for _, e := range entries {
			target, err := os.Readlink(filepath.Join(folder, e.Name()))
			if err == nil && strings.HasPrefix(target, "/dev/pts/") && target != "/dev/pts/ptmx" && !seen[target] {
				seen[target] = true
				list = append(list, target)
			}
		}
		return list, nil
	})
}
