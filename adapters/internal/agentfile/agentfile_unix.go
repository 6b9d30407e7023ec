//go:build unix

package agentfile

import (
	"io/fs"
	"os"
	"syscall"
	"time"
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

// StampOf returns the stamp of the file that info describes. It must be called right after info
// was read, and is zero where info does not come from the system.
func StampOf(_ string, info fs.FileInfo) Stamp {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Stamp{}
	}
	s := Stamp{Device: uint64(st.Dev), Inode: uint64(st.Ino), Size: info.Size(), Modified: info.ModTime().UnixNano(), Changed: changedAt(st)}
	return s.settle(time.Now())
}

// StampOfOpen returns the stamp of a file that is open.
func StampOfOpen(_ *os.File, info fs.FileInfo) Stamp { return StampOf("", info) }
