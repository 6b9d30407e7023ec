//go:build unix

package sqlitero

import (
	"io/fs"
	"os"
	"syscall"
)

type fileID struct{ dev, ino uint64 }

func idOf(_ *os.File, fi fs.FileInfo) fileID {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}
}

// openShared opens for reading only; O_NONBLOCK, so that a named pipe that took
// the file's place can't hang it.
func openShared(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
