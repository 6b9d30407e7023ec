//go:build unix

package cleanup

import (
	"io/fs"
	"syscall"
)

// hardLinks returns the number of hard links of a file.
func hardLinks(_ string, info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // 16 bits on macOS
	}
	return 1
}
