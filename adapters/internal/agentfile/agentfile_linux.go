package agentfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func openUntouched(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOATIME, 0)
	if errors.Is(err, syscall.EPERM) { // only the owner may keep the time
		return Open(path)
	}
	return f, err
}

// Accessed returns when a file was read last, as far as the file system keeps
// that: with relatime it keeps the first read after each write.
func Accessed(info fs.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(st.Atim.Unix())
}

// changedAt returns the time of the last change of a file's contents or attributes.
func changedAt(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }

// KeepsReadTimes reports whether the file system of a path keeps when files were read last (Accessed): not if it is mounted
// with noatime.
func KeepsReadTimes(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.ST_NOATIME == 0
}
