//go:build unix

package codex

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"rollcall/proc"
)

var errNotRegular = errors.New("not a regular file")

// openRegular opens for reading; O_NONBLOCK, so that a named pipe in a rollout's
// place can't hang it.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// fileID is what /proc/locks calls a file.
func fileID(fi fs.FileInfo) proc.FileID {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return proc.FileID{}
	}
	dev := uint64(st.Dev)
	return proc.FileID{Major: unix.Major(dev), Minor: unix.Minor(dev), Inode: uint64(st.Ino)}
}

// ownedByUser says whether a file belongs to the user who runs this.
func ownedByUser(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
