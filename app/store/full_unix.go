//go:build unix

package store

import (
	"errors"
	"syscall"
)

// isFull reports whether the disk or the user's quota is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// isReadOnly reports whether nothing can be written to the disk.
func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
