package store

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// syncFolder does nothing: NTFS keeps its own journal of names.
func syncFolder(string) {}

// patience is far above what a reader of a small file, or a virus scanner, takes.
const patience = 2 * time.Second

// patiently does it again while somebody else has the file open: then Windows
// neither replaces nor removes it, and while it is replaced it can't be opened.
func patiently(do func() error) error {
	const sharing, locked syscall.Errno = 32, 33 // ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION
	pause, until := time.Millisecond, time.Now().Add(patience)
	for {
		err := do()
		busy := errors.Is(err, sharing) || errors.Is(err, locked) || errors.Is(err, fs.ErrPermission)
		if !busy || time.Now().Add(pause).After(until) {
			return err
		}
		time.Sleep(pause)
		pause = min(2*pause, 50*time.Millisecond)
	}
}
