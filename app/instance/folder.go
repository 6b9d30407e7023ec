package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// maxSocketPath is what every system's sockaddr_un has room for (macOS: 104
// bytes with the closing zero).
const maxSocketPath = 103

// folder returns the private folder of the locks and sockets and makes it if
// need be. The runtime folder is preferred: it is local, private and emptied at
// logout. Processes started without XDG_RUNTIME_DIR (cron, ssh without PAM)
// must find the same one, hence the look at where systemd puts it.
func folder() (string, error) {
	if runtime.GOOS != "windows" && runtime.GOOS != "darwin" {
		dirs := []string{os.Getenv("XDG_RUNTIME_DIR"), fmt.Sprintf("/run/user/%d", os.Getuid())}
		for _, dir := range dirs {
			if filepath.IsAbs(dir) && private(dir) == nil {
				return makePrivate(filepath.Join(dir, "rollcall"))
			}
		}
	}
	return StateFolder()
}

// StateFolder returns the folder of what Rollcall keeps on disk, private to the
// user, and makes it if need be.
func StateFolder() (string, error) {
	state, err := StatePath()
	if err != nil {
		return "", err
	}
	return makePrivate(state)
}

// StatePath returns where that folder is, or would be.
func StatePath() (string, error) {
	switch runtime.GOOS {
	case "windows":
		if dir := os.Getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "rollcall"), nil
		}
		return "", errors.New("LOCALAPPDATA is not set")
	case "darwin":
		home, err := os.UserHomeDir()
		return filepath.Join(home, "Library", "Application Support", "rollcall"), err
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "rollcall"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "rollcall"), err
}

// makePrivate makes dir, with its parents, for this user alone. A folder that
// others can enter is closed; one that belongs to somebody else is refused.
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

// socketPath is where name listens. A path too long for a socket address moves
// to the folder for temporary files, in a private folder named after it.
func socketPath(dir, name string) (string, error) {
	path := filepath.Join(dir, name+".sock")
	if len(path) <= maxSocketPath {
		return path, nil
	}
	sum := sha256.Sum256([]byte(dir))
	short := fmt.Sprintf("rollcall-%d-%s", os.Getuid(), hex.EncodeToString(sum[:6]))
	moved, err := makePrivate(filepath.Join(os.TempDir(), short))
	if err != nil {
		return "", err
	}
	path = filepath.Join(moved, name+".sock")
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("%s: the path is too long for a socket; set TMPDIR to a shorter one", path)
	}
	return path, nil
}

// held says whether some process holds the claim on name now. Where nobody does
// it takes the lock shared for an instant: see take.
func held(dir, name string) (bool, error) {
	path := filepath.Join(dir, name+".lock")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	free, err := lock.TryRLock()
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", path, err)
	}
	return !free, lock.Close()
}
