package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Threads implements Details. A thread that ends meanwhile is left out.
func (t *Table) Threads(id Identity) ([]time.Time, error) {
	return detail(t, id, func() (started []time.Time, err error) {
		entries, err := os.ReadDir(t.path(id.PID, "task"))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			at, err := t.threadStarted(id.PID, e.Name())
			if isGone(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			started = append(started, at)
		}
		slices.SortFunc(started, time.Time.Compare)
		return started, nil
	})
}

func (t *Table) threadStarted(pid int, thread string) (time.Time, error) {
	var buffer [4096]byte
	path := t.path(pid, "task/"+thread+"/stat")
	n, err := readAt(unix.AT_FDCWD, path, buffer[:])
	if err != nil {
		return time.Time{}, err
	}
	s, err := parseStat(buffer[:n])
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", path, err)
	}
	return s.process("", t.bootTime()).Started, nil
}

// Written implements Details: wchar of /proc/PID/io, which includes the children for
// which the process has waited.
func (t *Table) Written(id Identity) (uint64, error) {
	return detail(t, id, func() (uint64, error) {
		value, err := t.statusField(id.PID, "io", "wchar:")
		if err != nil {
			return 0, err
		}
		return strconv.ParseUint(value, 10, 64)
	})
}

// statusField returns what follows name, without blanks around it, in a file of a
// process that has a line for each of its fields.
func (t *Table) statusField(pid int, file, name string) (string, error) {
	path := t.path(pid, file)
	b, err := readAll(path, 1<<20)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("%s: no line %q", path, name)
}

// UID returns the real user id of a live process. Its errors are ErrGone and those
// of reading /proc; every user may read it unless /proc is mounted with hidepid.
func (t *Table) UID(id Identity) (int, error) {
	return detail(t, id, func() (int, error) {
		value, err := t.statusField(id.PID, "status", "Uid:")
		if err != nil {
			return 0, err
		}
		uid, _, _ := strings.Cut(value, "\t")
		return strconv.Atoi(uid)
	})
}

// Sockets implements Details. Descriptors that are closed meanwhile are left out.
func (t *Table) Sockets(id Identity) (int, error) {
	return detail(t, id, func() (int, error) {
		return t.countSockets(id.PID, func(fd int, target string) bool { return fd > 2 && strings.HasPrefix(target, "socket:") })
	})
}

// countSockets returns how many descriptors of a process are wanted, by their
// number and by what their links name.
func (t *Table) countSockets(pid int, wanted func(fd int, target string) bool) (n int, err error) {
	folder := t.path(pid, "fd")
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		fd, bad := strconv.Atoi(e.Name())
		if target, err := os.Readlink(filepath.Join(folder, e.Name())); bad == nil && err == nil && wanted(fd, target) {
			n++
		}
	}
	return n, err
}
