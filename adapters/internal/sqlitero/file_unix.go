//go:build unix

package sqlitero

import (
	"io/fs"
	"os"
	"syscall"
)

type fileID struct{ device, inode uint64 }

func idOf(_ *os.File, fi fs.FileInfo) fileID {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}
}
