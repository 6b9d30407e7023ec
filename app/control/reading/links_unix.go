//go:build !windows

package reading

import (
	"io/fs"
	"syscall"
)

// links returns how many names a file has. One with more than one may be a secret elsewhere.
func links(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) //nolint:unconvert // it has fewer bits on macOS
	}
	return 0
}
