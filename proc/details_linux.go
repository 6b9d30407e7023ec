package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel limits arguments and environment together to 6 MiB.
const maxArgs = 8 << 20

// Args implements Details. Trailing empty arguments are dropped: a process that has
// shortened its title (Pi 1.5.2 does) leaves its old arguments as zero bytes, which
// look like empty arguments. Kernel threads have no arguments.
func (t *Table) Args(id Identity) ([]string, error) {
	args, err := detail(t, id, func() ([]string, error) { return t.zeroSeparated(id.PID, "cmdline") })
	for len(args) > 0 && args[len(args)-1] == "" {
		args = args[:len(args)-1]
	}
	return args, err
}

// ArgsSize implements Details.
func (t *Table) ArgsSize(id Identity) (int, error) {
	return detail(t, id, func() (int, error) {
		b, err := readAll(t.path(id.PID, "cmdline"), maxArgs)
		return len(b), err
	})
}

// Env implements Details. It returns the environment that the process was started with;
// variables that the process set later are missing. For another user's process it
// returns fs.ErrPermission.
func (t *Table) Env(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) { return t.zeroSeparated(id.PID, "environ") })
}

// Exe implements Details. A binary that was replaced or removed since the start has its
// old path.
func (t *Table) Exe(id Identity) (string, error) { return t.link(id, "exe") }

// ExeInfo returns the file that a process runs, also one that was replaced or removed since the start.
func (t *Table) ExeInfo(id Identity) (os.FileInfo, error) {
	return detail(t, id, func() (os.FileInfo, error) { return os.Stat(t.path(id.PID, "exe")) })
}

// CWD implements Details. A folder that was removed since has its old path.
func (t *Table) CWD(id Identity) (string, error) { return t.link(id, "cwd") }

func (t *Table) zeroSeparated(pid int, name string) ([]string, error) {
	b, err := readAll(t.path(pid, name), maxArgs)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return strings.Split(string(bytes.TrimSuffix(b, []byte{0})), "\x00"), nil
}

func (t *Table) link(id Identity, name string) (string, error) {
	target, err := detail(t, id, func() (string, error) { return os.Readlink(t.path(id.PID, name)) })
	return strings.TrimSuffix(target, deletedSuffix), err
}

// InnerPIDs implements Details. A tree without NSpid, as of kernels before 4.1 or
// of a recording, has none.
func (t *Table) InnerPIDs(id Identity) ([]int, error) {
	return detail(t, id, func() ([]int, error) {
		status, err := readAll(t.path(id.PID, "status"), maxStatus)
		if err != nil {
			return nil, err
		}
		return parseInnerPIDs(status)
	})
}

// parseInnerPIDs reads the line "NSpid: OWN INNER…" of /proc/PID/status, which
// begins with the pid in the namespace that the tree shows.
func parseInnerPIDs(status []byte) ([]int, error) {
	list, _ := field(status, "NSpid:")
	var pids []int
	for _, word := range strings.Fields(list) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("%w: bad NSpid", errStat)
		}
		pids = append(pids, pid)
	}
	return pids[min(1, len(pids)):], nil
}

// Root implements Details. A tree of another pid namespace does not show where its
// processes' files are here.
func (t *Table) Root(id Identity) (string, error) {
	if !t.ownNamespace {
		return "", nil
	}
	return detail(t, id, func() (string, error) {
		theirs, err := os.Readlink(t.path(id.PID, "ns/mnt"))
		if err != nil {
			return "", err
		}
		ours, err := os.Readlink(t.path(os.Getpid(), "ns/mnt"))
		if err != nil {
			return "", err
		}
		path := t.path(id.PID, "root")
		if theirs == ours {
			same, err := sameFolder(path, "/")
			if err != nil || same {
				return "", err
			}
		}
		return path, nil
	})
}

// sameFolder compares two folders by what the kernel knows of them: a file system is not asked, since it may not answer.
func sameFolder(a, b string) (bool, error) {
	var one, other unix.Statx_t
	for path, known := range map[string]*unix.Statx_t{a: &one, b: &other} {
		if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC, unix.STATX_INO, known); err != nil {
			return false, &os.PathError{Op: "statx", Path: path, Err: err}
		}
	}
	return one.Dev_major == other.Dev_major && one.Dev_minor == other.Dev_minor && one.Ino == other.Ino, nil
}

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
	s, err := readStat(unix.AT_FDCWD, t.path(pid, "task/"+thread+"/stat"))
	return s.process("", t.bootTime()).Started, err
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

// The fields of what a process has used, by their index after the comm: times in clock ticks, and resident memory in pages.
const (
	fieldUserTime   = 11
	fieldSystemTime = 12
	fieldResident   = 21
)

// Load implements Details.
func (t *Table) Load(id Identity) (Load, error) {
	return detail(t, id, func() (Load, error) {
		b, err := readAll(t.path(id.PID, "stat"), maxStatus)
		if err != nil {
			return Load{}, err
		}
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(fields) <= fieldResident {
			return Load{}, errStat
		}
		user, err := strconv.ParseInt(string(fields[fieldUserTime]), 10, 64)
		system, err2 := strconv.ParseInt(string(fields[fieldSystemTime]), 10, 64)
		pages, err3 := strconv.ParseUint(string(fields[fieldResident]), 10, 64)
		l := Load{Processor: time.Duration(user+system) * time.Second / ticksPerSecond, Memory: pages * uint64(os.Getpagesize())}
		return l, errors.Join(err, err2, err3)
	})
}

// maxStatus is the largest size in bytes of a file with a line for each of its fields.
const maxStatus = 1 << 20

// statusField returns a field of a file of a process that has a line for each of its fields.
func (t *Table) statusField(pid int, file, name string) (string, error) {
	path := t.path(pid, file)
	b, err := readAll(path, maxStatus)
	if err != nil {
		return "", err
	}
	value, ok := field(b, name)
	if !ok {
		return "", fmt.Errorf("%s: no line %q", path, name)
	}
	return value, nil
}

// Terminal returns the device of the controlling terminal of a process, such as "/dev/pts/3"; empty: it has none, like an
// agent that was started in the background in its own session.
func (t *Table) Terminal(id Identity) (string, error) {
	return detail(t, id, func() (string, error) {
		s, err := t.stat(id.PID)
		return terminalName(uint64(uint32(s.terminal))), err
	})
}

// The device numbers of terminals, by Documentation/admin-guide/devices.txt of Linux.
const (
	majorConsole  = 4   // /dev/tty1 to /dev/tty63
	majorPTYFirst = 136 // /dev/pts, 256 for each major number
	majorPTYLast  = 143
	consoles      = 64
)

// terminalName returns the name of the device with a number from /proc/PID/stat. For 0, which means no terminal, the name is empty.
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
