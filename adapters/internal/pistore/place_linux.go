package pistore

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"rollcall/proc"
)

// watched returns the folders and files that a process of this machine watches;
// nothing for those of recordings.
func (d *discovery) watched(id proc.Identity) map[folderID]bool {
	if !proc.Open().Alive(id) {
		return nil
	}
	root := os.Getenv("HOST_PROC")
	if root == "" {
		root = "/proc"
	}
	dir := filepath.Join(root, strconv.Itoa(id.PID))
	names, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return nil
	}
	var found map[folderID]bool
	for _, name := range names {
		if link, err := os.Readlink(filepath.Join(dir, "fd", name.Name())); err != nil || link != "anon_inode:inotify" {
			continue
		}
		info, _ := os.ReadFile(filepath.Join(dir, "fdinfo", name.Name()))
		for line := range strings.Lines(string(info)) {
			if watch, ok := parseWatch(line); ok {
				if found == nil {
					found = map[folderID]bool{}
				}
				found[watch] = true
			}
		}
	}
	if !proc.Open().Alive(id) {
		return nil
	}
	return found
}

// parseWatch reads a line of an inotify's fdinfo. The device is the kernel's own
// form: 20 bits of minor number.
func parseWatch(line string) (folderID, bool) {
	if !strings.HasPrefix(line, "inotify ") {
		return folderID{}, false
	}
	var id folderID
	for _, field := range strings.Fields(line) {
		name, value, _ := strings.Cut(field, ":")
		n, err := strconv.ParseUint(value, 16, 64)
		switch {
		case err != nil:
		case name == "ino":
			id.inode = n
		case name == "sdev":
			id.device = unix.Mkdev(uint32(n>>20), uint32(n&(1<<20-1)))
		}
	}
	return id, id.inode != 0
}

func identify(path string) folderID {
	var info unix.Stat_t
	if path == "" || unix.Stat(path, &info) != nil {
		return folderID{}
	}
	return folderID{device: uint64(info.Dev), inode: info.Ino}
}
