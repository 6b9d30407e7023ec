//go:build linux || darwin

package termclient

import (
	"os"
	"syscall"
)

// isRemoved reports whether a file has no name any more.
func isRemoved(file os.FileInfo) bool {
	stat, ok := file.Sys().(*syscall.Stat_t)
	return !ok || stat.Nlink == 0
}

// ofRoot reports whether only root can change a file.
func ofRoot(file os.FileInfo) bool {
	stat, ok := file.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && file.Mode().Perm()&0o022 == 0
}
