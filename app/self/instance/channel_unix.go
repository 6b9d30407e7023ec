//go:build unix

package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// maxSocketPath is the length in bytes of the longest path that the sockaddr_un of
// every system can hold (macOS: 104 bytes with the final zero).
const maxSocketPath = 103

// listen opens the socket of a claim that this process holds. It removes an existing
// socket, which can only be a dead owner's.
func listen(dir, name string) (net.Listener, error) {
	path, err := socketPath(dir, name)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove a dead owner's socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// connect connects to the socket of a claim until end.
func connect(dir, name string, end time.Time) (net.Conn, error) {
	path, err := socketPath(dir, name)
	if err != nil {
		return nil, err
	}
	return net.DialTimeout("unix", path, time.Until(end))
}

// socketPath returns the path of name's socket. Where that is too long for a socket
// address, the socket is in the folder for temporary files, in a private folder whose
// name is derived from dir.
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

// checkAccess returns an error unless dir belongs to this user and no other can enter it.
func checkAccess(dir string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user", dir)
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return fmt.Errorf("%s can be entered by others (mode %o)", dir, perm)
	}
	return nil
}
