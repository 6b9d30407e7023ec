package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

func base(path string) string { return filepath.Base(filepath.Clean(path)) }

// missing says that nothing is at path, for certain.
func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// within says whether folder is root or lies below it, however both are
// written: symbolic links, letter case and mounts make no difference.
func within(folder, root string) bool {
	top, err := os.Stat(root)
	if err != nil {
		return false
	}
	if straight, err := filepath.EvalSymlinks(folder); err == nil {
		folder = straight
	}
	for folder = filepath.Clean(folder); ; folder = filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil && os.SameFile(info, top) {
			return true
		}
		if folder == filepath.Dir(folder) {
			return false
		}
	}
}
