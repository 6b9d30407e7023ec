package instance

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer returns an error unless the process at the other end belongs to this user.
func checkPeer(conn net.Conn) error {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("not a private socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	switch {
	case credErr != nil:
		return fmt.Errorf("cannot tell whose process is at the other end: %w", credErr)
	case int(cred.Uid) != os.Geteuid():
		return fmt.Errorf("the process at the other end belongs to another user (uid %d)", cred.Uid)
	}
	return nil
}
