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

	"rollcall/proc"
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

// Dial connects to a socket whose listener is in the boundary of this process. A name that begins with "@" is an abstract one. Nothing was sent
// over the connection.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	p, _, err := Peer(conn)
	if err == nil {
		err = CheckBoundary(p.Identity)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the process that listens on %s: %w", path, err)
	}
	return conn, nil
}

// Peer returns the process at the other end of a connection, and its user: the process that connected or, for the one that
// connected, the process that began to listen on the socket. Another process may use the socket meanwhile. Since Linux 6.5 it is
// certain that the process is alive and has not just got the pid of that one. With an error, Peer returns what is known; a user
// that is not known is -1.
func Peer(conn net.Conn) (p proc.Process, uid int, err error) {
	local, ok := conn.(*net.UnixConn)
	if !ok {
		return p, -1, errors.New("not a local socket")
	}
	raw, err := local.SyscallConn()
	if err != nil {
		return p, -1, err
	}
	if controlErr := raw.Control(func(fd uintptr) { p, uid, err = peer(int(fd)) }); controlErr != nil {
		return p, -1, controlErr
	}
	return p, uid, err
}

// Listener connects to a socket and returns the process that listens on it. A name that begins with "@" is an abstract one. It
// returns after two seconds at most.
func Listener(ctx context.Context, path string) (id proc.Identity, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return id, err
	}
	defer func() { _ = conn.Close() }()
	p, _, err := Peer(conn)
	return p.Identity, err
}
