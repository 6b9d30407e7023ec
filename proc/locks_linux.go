package proc

import (
	"bytes"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// FileLocks implements Lister. The pid is that of the process that took the lock; a flock may
// outlive that process in a child that inherited the descriptor, so check that the process is
// alive. A process that waits for a lock does not hold it. On file systems with separate device
// numbers (btrfs, overlayfs) the kernel may list another device than stat returns: compare only
// the inode there.
func (t *Table) FileLocks() (map[FileID]int, error) {
	b, err := readAll(t.root+"/locks", 64<<20)
	if err != nil {
		return nil, fmt.Errorf("file locks: %w", err)
	}
	locks := make(map[FileID]int)
	for line := range bytes.Lines(b) {
		if file, pid, ok := parseLock(string(line)); ok {
			locks[file] = pid
		}
	}
	return locks, nil
}

// parseLock parses one line of /proc/locks:
//
//	1: FLOCK  ADVISORY  WRITE 12345 08:01:123456 0 EOF
//
// ok is false for waiting locks ("1: -> FLOCK …"), leases, and locks without a process
// in this pid namespace (pid 0 or -1).
func parseLock(line string) (file FileID, pid int, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 6 || (fields[1] != "FLOCK" && fields[1] != "POSIX") {
		return FileID{}, 0, false
	}
	pid, err := strconv.Atoi(fields[4])
	if err != nil || pid <= 0 {
		return FileID{}, 0, false
	}
	file, ok = parseFileID(fields[5])
	return file, pid, ok
}

// parseFileID parses "major:minor:inode", the first two hexadecimal.
func parseFileID(s string) (FileID, bool) {
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return FileID{}, false
	}
	major, err1 := strconv.ParseUint(parts[0], 16, 32)
	minor, err2 := strconv.ParseUint(parts[1], 16, 32)
	inode, err3 := strconv.ParseUint(parts[2], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return FileID{}, false
	}
	return FileID{Major: uint32(major), Minor: uint32(minor), Inode: inode}, true
}

// FileIDOf returns the id under which FileLocks lists the file that info describes. ok
// is false where the system keeps no such id.
func FileIDOf(info fs.FileInfo) (id FileID, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}, false
	}
	return FileID{Major: unix.Major(uint64(s.Dev)), Minor: unix.Minor(uint64(s.Dev)), Inode: s.Ino}, true
}
