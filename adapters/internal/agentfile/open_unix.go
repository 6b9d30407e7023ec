//go:build unix

package agentfile

import (
	"io/fs"
	"os"
	"syscall"
)

// Open opens a file or folder for reading. It does not wait for a writer if path
// is a named pipe.
func Open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// OwnedByUser reports whether a file belongs to the user who runs Rollcall.
func OwnedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
