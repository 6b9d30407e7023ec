//go:build unix

package pistore

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

var errNotRegular = errors.New("not a regular file")

// openRegular opens for reading; O_NONBLOCK, so that a named pipe in a session's
// place can't hang it.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	return checkRegular(f, path)
}

// ownedByUser says whether a file belongs to the user who runs this.
func ownedByUser(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// homeVariable names the home folder in a process's environment.
const homeVariable = "HOME"
