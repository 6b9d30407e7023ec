package proc

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// eachFD calls do with the number of each descriptor of a process and with what its link names, until do returns an error. Descriptors that
// are closed meanwhile are left out.
func (t *Table) eachFD(pid int, do func(fd, target string) error) error {
	folder := t.path(pid, "fd")
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	buffer := make([]byte, unix.PathMax)
	for _, name := range names {
		n, err := unix.Readlinkat(int(dir.Fd()), name, buffer)
		switch {
		case isGone(err), err == unix.EINVAL: // closed meanwhile
			continue
		case err != nil:
			return &fs.PathError{Op: "readlink", Path: folder + "/" + name, Err: err}
		}
		if err := do(name, string(buffer[:n])); err != nil {
			return err
		}
	}
	return nil
}

// targets returns the names to which the links of a process's descriptors lead, each once, as far as they are wanted.
func (t *Table) targets(id Identity, wanted func(target string) bool) ([]string, error) {
	return detail(t, id, func() (list []string, err error) {
		seen := map[string]bool{}
		err = t.eachFD(id.PID, func(_, target string) error {
			if wanted(target) && !seen[target] {
				seen[target] = true
				list = append(list, target)
			}
			return nil
		})
		return list, err
	})
}

// OpenFiles implements Details. Files that were removed or replaced while open are left
// out: the file that has their name now is another one. So are devices, pipes and
// sockets. An open folder may be among the paths: recognising a folder takes a stat,
// which never returns on a dead network mount.
func (t *Table) OpenFiles(id Identity) ([]string, error) { return t.targets(id, isFile) }

// OpenTerminals returns the pseudo-terminals that a process has open by their names, each once: those on which a terminal
// multiplexer shows what runs in it.
func (t *Table) OpenTerminals(id Identity) ([]string, error) {
	return t.targets(id, func(target string) bool { return strings.HasPrefix(target, "/dev/pts/") && target != "/dev/pts/ptmx" })
}

const deletedSuffix = " (deleted)"

// isFile reports whether the target of a descriptor's link is a file. Pipes and sockets
// read "pipe:[7]", memory files "/memfd:name (deleted)". /dev/shm holds ordinary files.
func isFile(target string) bool {
	if !strings.HasPrefix(target, "/") || strings.HasSuffix(target, deletedSuffix) || strings.HasPrefix(target, "/proc/") {
		return false
	}
	return !strings.HasPrefix(target, "/dev/") || strings.HasPrefix(target, "/dev/shm/")
}

// RemovedFiles implements Details.
func (t *Table) RemovedFiles(id Identity) (map[string]string, error) {
	return detail(t, id, func() (map[string]string, error) {
		removed := map[string]string{}
		err := t.eachFD(id.PID, func(fd, target string) error {
			if path, gone := strings.CutSuffix(target, deletedSuffix); gone && isFile(path) && !strings.HasPrefix(path, "/memfd:") {
				removed[path] = t.path(id.PID, "fd/"+fd)
			}
			return nil
		})
		return removed, err
	})
}

// Sockets implements Details.
func (t *Table) Sockets(id Identity) (int, error) {
	return t.countSockets(id, func(fd int, target string) bool { return fd > 2 && strings.HasPrefix(target, "socket:") })
}

// countSockets returns how many descriptors of a process are wanted, by their
// number and by what their links name.
func (t *Table) countSockets(id Identity, wanted func(fd int, target string) bool) (int, error) {
	return detail(t, id, func() (n int, err error) {
		err = t.eachFD(id.PID, func(name, target string) error {
			if fd, err := strconv.Atoi(name); err == nil && wanted(fd, target) {
				n++
			}
			return nil
		})
		return n, err
	})
}

// maxFDInfo is the largest number of bytes that are read about a descriptor: an inotify
// instance has a line for each of its watches.
const maxFDInfo = 4 << 20

// Appended implements Details. The kernel keeps the position at which the last write of
// each descriptor ended. Nothing but a write moves the position of a descriptor for
// appending.
func (t *Table) Appended(id Identity, path string) ([]int64, error) {
	return detail(t, id, func() (ends []int64, err error) {
		err = t.eachInfo(id.PID, path, func(info string) {
			if end := appendedTo(info); end > 0 {
				ends = append(ends, end)
			}
		})
		slices.SortFunc(ends, func(a, b int64) int { return cmp.Compare(b, a) })
		return ends, err
	})
}

// Watched implements Details.
func (t *Table) Watched(id Identity) ([]FileID, error) {
	return detail(t, id, func() (files []FileID, err error) {
		err = t.eachInfo(id.PID, "anon_inode:inotify", func(info string) {
			for line := range strings.Lines(info) {
				if file, ok := parseWatch(line); ok {
					files = append(files, file)
				}
			}
		})
		return files, err
	})
}

// eachInfo calls do with the kernel's information on each descriptor of a process whose
// link names target. Descriptors of a recording that lacks these files are left out.
func (t *Table) eachInfo(pid int, target string, do func(info string)) error {
	return t.eachFD(pid, func(fd, named string) error {
		if named != target {
			return nil
		}
		info, err := readAll(t.path(pid, "fdinfo/"+fd), maxFDInfo)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			do(string(info))
		}
		return err
	})
}

// appendedTo reads the position of a descriptor; 0 for one that is not for
// appending, or has written nothing.
func appendedTo(info string) (pos int64) {
	var flags int64
	for line := range strings.Lines(info) {
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); key {
		case "pos":
			pos, _ = strconv.ParseInt(value, 10, 64)
		case "flags":
			flags, _ = strconv.ParseInt(value, 8, 64)
		}
	}
	if flags&int64(os.O_APPEND) == 0 {
		return 0
	}
	return pos
}

// parseWatch reads a line of an inotify instance. The device is in the kernel's
// own form: 20 bits of minor number.
func parseWatch(line string) (FileID, bool) {
	rest, ok := strings.CutPrefix(line, "inotify ")
	if !ok {
		return FileID{}, false
	}
	var id FileID
	for field := range strings.FieldsSeq(rest) {
		name, value, _ := strings.Cut(field, ":")
		if name != "ino" && name != "sdev" {
			continue
		}
		n, err := strconv.ParseUint(value, 16, 64)
		switch {
		case err != nil:
			return FileID{}, false
		case name == "ino":
			id.Inode = n
		default:
			id.Major, id.Minor = uint32(n>>20), uint32(n&(1<<20-1))
		}
	}
	return id, id.Inode != 0
}
