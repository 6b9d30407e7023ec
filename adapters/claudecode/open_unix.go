//go:build unix

package claudecode

import (
	"io/fs"
	"os"
	"syscall"
)

// openFile opens without waiting for a writer, should the file be a named pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// ownedByUser says whether the file belongs to the user that Rollcall runs as.
func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// homeVariable names the home folder in a process's environment.
const homeVariable = "HOME"

// errNotDir: a link to something else than a folder.
var errNotDir error = syscall.ENOTDIR
