//go:build linux || darwin

package focus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// checkSocket returns an error unless a socket belongs to this user, in a folder in which no other user can replace it.
func checkSocket(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s is no absolute path", path)
	}
	socket, err := os.Lstat(path)
	if err != nil {
		return err
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	stat, ok := socket.Sys().(*syscall.Stat_t)
	others := folder.Mode().Perm()&0o022 != 0 && folder.Mode()&fs.ModeSticky == 0
	if socket.Mode()&fs.ModeSocket == 0 || !ok || int(stat.Uid) != os.Geteuid() || others {
		return fmt.Errorf("%s is not a socket of yours alone", path)
	}
	return nil
}

// dial connects to a socket of this user. The connection ends with ctx, and answerLimit after dial at the latest.
func dial(ctx context.Context, path string) (*net.UnixConn, error) {
	if err := checkSocket(path); err != nil {
		return nil, err
	}
	return dialUnchecked(ctx, path)
}

func dialUnchecked(ctx context.Context, path string) (*net.UnixConn, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	end, _ := ctx.Deadline()
	if err := conn.SetDeadline(end); err != nil {
		_ = conn.Close()
		return nil, err
	}
	u, ok := conn.(*net.UnixConn)
	if !ok {
		_ = conn.Close()
		return nil, errors.New("not a local socket")
	}
	return u, nil
}

// peerOf returns the pid of the process that listens on a socket. A name that begins with "@" is an abstract one.
func peerOf(ctx context.Context, path string) (int, error) {
	conn, err := dialUnchecked(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.SyscallConn()
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

// readUpTo reads to the end, or fails after limit bytes.
func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("the answer is longer than %d MB", limit>>20)
	}
	return b, err
}
