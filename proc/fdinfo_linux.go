package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxFDInfo is the largest number of bytes that are read about a descriptor: an inotify
// instance has a line for each of its watches.
const maxFDInfo = 4 << 20

// Appended implements Details. The kernel keeps the position at which the last write of
// each descriptor ended. Nothing but a write moves the position of a descriptor for
// appending.
func (t *Table) Appended(id Identity, path string) ([]int64, error) {
	return detail(t, id, func() (ends []int64, err error) {
		err = t.eachFD(id.PID, func(target string) bool { return target == path }, func(info string) {
			if end := appendedTo(info); end > 0 {
				ends = append(ends, end)
			}
		})
		slices.Sort(ends)
		slices.Reverse(ends)
		return ends, err
	})
}

// Watched implements Details.
func (t *Table) Watched(id Identity) ([]FileID, error) {
	return detail(t, id, func() (files []FileID, err error) {
		err = t.eachFD(id.PID, func(target string) bool { return target == "anon_inode:inotify" }, func(info string) {
			for line := range strings.Lines(info) {
				if file, ok := parseWatch(line); ok {
					files = append(files, file)
				}
			}
		})
		return files, err
	})
}

// eachFD calls do with the kernel's information on each descriptor of a process whose
// link has a wanted target. Descriptors that are closed meanwhile are left out, as are
// those of a recording that lacks these files.
func (t *Table) eachFD(pid int, wanted func(target string) bool, do func(info string)) error {
	folder := t.path(pid, "fd")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(folder, e.Name()))
		if err != nil || !wanted(target) {
			continue
		}
		info, err := readAll(filepath.Join(t.path(pid, "fdinfo"), e.Name()), maxFDInfo)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			do(string(info))
		}
	}
	return nil
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
