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

// isReadOnly reports whether nothing can be written to the disk.
func isReadOnly(err error) bool {
	const writeProtected syscall.Errno = 19
	return errors.Is(err, writeProtected)
}
