//go:build unix

package store

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// noWait opens a pipe without waiting for its other end.
const noWait = syscall.O_NONBLOCK

// asFolder, after the path of a folder, makes opening anything else fail at once: opening a pipe waits for its other end.
const asFolder = "/."

// LockFlags are the flags for opening a lock file. They do not follow a link or wait for a pipe.
const LockFlags = os.O_CREATE | os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// others is the permission to write for the group and all other users.
const others fs.FileMode = 0o022

// FileNumber returns the number of a file in its file system, which a restart of the machine does not change. It returns
// an empty string if the number is not known.
func FileNumber(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(st.Ino)
	}
	return ""
}

// owners is the set of users to whom a file may belong.
type owners int

const (
	onlyUser   owners = iota
	userOrRoot        // root can change every file, and installs settings on some systems
)

// checkOwner returns an *UnsafeError if the file belongs to another user or others can write to it.
func checkOwner(path string, info fs.FileInfo, may owners) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if uid := int(st.Uid); uid != os.Geteuid() && (uid != 0 || may != userOrRoot) {
		return &UnsafeError{path, fmt.Sprintf("it belongs to another user (uid %d)", uid),
			"Move it away, or check its contents and run: sudo chown " + fmt.Sprint(os.Geteuid()) + " " + Quote(path) + "."}
	}
	if info.Mode().Perm()&others == 0 {
		return nil
	}
	if info.IsDir() && may == userOrRoot && info.Mode()&fs.ModeSticky != 0 {
		return nil // others can add files, but not replace any
	}
	return &UnsafeError{path, fmt.Sprintf("other users can write to it (mode %o)", info.Mode().Perm()),
		"Check its contents, then run: chmod go-w " + Quote(path) + "."}
}
