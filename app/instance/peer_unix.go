//go:build linux || darwin

package instance

import (
	"errors"
	"fmt"
	"net"
	"os"
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
	var uid uint32
	var uidErr error
	if err := raw.Control(func(fd uintptr) { uid, uidErr = peerUID(int(fd)) }); err != nil {
		return err
	}
	switch {
	case uidErr != nil:
		return fmt.Errorf("cannot determine the user of the process at the other end: %w", uidErr)
	case int(uid) != os.Geteuid():
		return fmt.Errorf("the process at the other end belongs to another user (uid %d)", uid)
	}
	return nil
}
