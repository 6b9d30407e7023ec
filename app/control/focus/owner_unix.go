//go:build !windows

package focus

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// onlyRootWrites reports whether only root can change or replace the file with a path without links.
func onlyRootWrites(path string) bool {
	for {
		info, err := os.Lstat(path)
		if err != nil {
			return false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0 // in which a user can't replace root's files
		if !ok || stat.Uid != 0 || info.Mode().Perm()&0o022 != 0 && !sticky {
			return false
		}
		parent := filepath.Dir(path)
		if parent == path {
			return true
		}
		path = parent
	}
}
