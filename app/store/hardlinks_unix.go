//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// HardLinks returns the number of hard links of a file, or 2 if it cannot be determined.
func HardLinks(_ string, info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // 16 bits on macOS
	}
	return 2
}
