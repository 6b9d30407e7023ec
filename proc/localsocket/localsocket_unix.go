//go:build linux || darwin

package localsocket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Check returns an error unless a socket belongs to this user, in a folder in which no other user but root can replace it: the folder's
// owner can, whatever its mode. The error names the path.
func Check(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s is not an absolute path", path)
	}
	socket, err := os.Lstat(path)
	if err != nil {
		return err
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	othersWrite := folder.Mode().Perm()&0o022 != 0 && folder.Mode()&fs.ModeSticky == 0
	if socket.Mode()&fs.ModeSocket == 0 || othersWrite || !ownedBy(socket, os.Geteuid()) || !ownedBy(folder, os.Geteuid(), 0) {
		return fmt.Errorf("%s is not a socket that belongs to you, in a folder in which no other user can replace it", path)
	}
	return nil
}

// ownedBy reports whether the owner of a file is one of the users.
func ownedBy(info fs.FileInfo, users ...int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && slices.Contains(users, int(stat.Uid))
}

// Listener connects to a socket and returns the pid of the process that listens on it. A name that begins with "@" is an abstract one. It
// returns after two seconds at most.
func Listener(ctx context.Context, path string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, errors.New("not a local socket")
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return 0, err
	}
	pid := 0
	var failed error
	if err := raw.Control(func(fd uintptr) { pid, failed = peerPID(int(fd)) }); err != nil {
		return 0, err
	}
	return pid, failed
}
