//go:build linux

package desktoptest

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	folderPrefix = "rollcall-desktop-"
	lockName     = "lock"
)

// newFolder makes the folder of a desktop. A file in it is locked for as long as
// this process lives, by which the folders of killed ones are told and removed.
func newFolder() (dir string, lock *os.File, err error) {
	locks, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*", lockName))
	if err != nil {
		return "", nil, err
	}
	for _, path := range locks {
		if f, err := lockFile(path, 0); err == nil {
			_ = os.RemoveAll(filepath.Dir(path)) // what can't be removed is another user's
			f.Close()
		}
	}
	dir, err = os.MkdirTemp("", folderPrefix)
	if err != nil {
		return "", nil, err
	}
	// It gets its name once it is locked: before, it could be taken for a dead one's.
	path := filepath.Join(dir, lockName)
	lock, err = lockFile(path+"-new", os.O_CREATE)
	if err == nil {
		err = os.Rename(path+"-new", path)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, lock, nil
}

func lockFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
