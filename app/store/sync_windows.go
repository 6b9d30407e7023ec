package store

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// busyLimit is far above the time for which a reader, or a virus scanner, has a small file open.
const busyLimit = 2 * time.Second

// retryBusy calls do until it succeeds or busyLimit is over, while another process has the file open. Windows neither
// replaces nor removes an open file, and cannot open a file that is being replaced.
func retryBusy(do func() error) error {
	const sharing, locked syscall.Errno = 32, 33 // ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION
	pause, until := time.Millisecond, time.Now().Add(busyLimit)
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
