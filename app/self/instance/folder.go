package instance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"rollcall/app/store"
)

// folder returns the folder of the locks and sockets, private to the user, and creates
// it where it does not exist: below the system's runtime folder, else the state folder.
func folder() (string, error) {
	for _, dir := range store.RuntimePaths() {
		if private(filepath.Dir(dir)) == nil {
			return makePrivate(dir)
		}
	}
	return StateFolder()
}

// StateFolder returns the folder of Rollcall's files, private to the user, and creates
// it where it does not exist.
func StateFolder() (string, error) {
	state, err := store.StatePath()
	if err != nil {
		return "", err
	}
	return makePrivate(state)
}

// makePrivate creates dir, with its parents, for this user alone. It closes a folder
// that others can enter, and refuses one that belongs to another user.
func makePrivate(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := private(dir); err == nil {
		return dir, nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", fmt.Errorf("make %s private: %w", dir, err)
	}
	return dir, private(dir)
}

// private returns an error unless dir is a folder that belongs to this user and that no other user can enter.
func private(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	}
	return checkAccess(dir, info)
}

// held reports whether a process holds the claim on name. Where none does, held takes
// the lock shared for an instant: see take.
func held(dir, name string) (bool, error) {
	path := filepath.Join(dir, name+".lock")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	lock := flock.New(path, flock.SetPermissions(0o600), flock.SetFlag(store.LockFlags))
	free, err := lock.TryRLock()
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", path, err)
	}
	return !free, lock.Close()
}
