package store

import (
	"errors"
	"syscall"
)

// isFull reports whether the disk or the user's quota is full.
func isFull(err error) bool {
	const handleFull, diskFull, quota syscall.Errno = 39, 112, 1295
	return errors.Is(err, handleFull) || errors.Is(err, diskFull) || errors.Is(err, quota)
}
