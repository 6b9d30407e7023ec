//go:build unix

package trash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// deviceOf returns the number of the file system of path.
func deviceOf(path string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return 0, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return uint64(st.Dev), nil //nolint:unconvert // 32 bits and signed on macOS
}

// top returns the mount point of the file system of path.
func (t *Trash) top(path string) (string, error) {
	dir := filepath.Dir(path)
	dev, err := t.device(dir)
	if err != nil {
		return "", err
	}
	for dir != "/" {
		above, err := t.device(filepath.Dir(dir))
		if err != nil {
			return "", err
		}
		if above != dev {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir, nil
}

// private creates a folder for this user alone if it does not exist. It returns an error for a link or another user's
// folder, which could lead the file anywhere.
func private(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a folder that belongs to you", dir)
	}
	return nil
}

// move renames a file, or copies it to another file system and removes the original.
func move(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, unix.EXDEV) {
		return err
	}
	if err := copyFile(from, to); err != nil {
		return err
	}
	if err := os.Remove(from); err != nil {
		_ = os.Remove(to)
		return err
	}
	return nil
}
