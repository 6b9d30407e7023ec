//go:build linux || darwin

package instance

import (
	"errors"
	"fmt"
	"net"
	"os"

	"rollcall/proc"
)

// checkPeer returns an error unless the process at the other end belongs to this user and, on Linux, runs under the same conditions: see
// proc.CheckBoundary. It returns the process also with an error, as far as it is known. On macOS the process is not known. by is
// when the connection existed already, from sinceBoot.
func checkPeer(conn net.Conn, by uint64) (p proc.Process, err error) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return p, errors.New("not a private socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return p, err
	}
	if ctlErr := raw.Control(func(fd uintptr) {
		if err = checkPeerUser(int(fd)); err == nil {
			p, err = peerProcess(int(fd), by)
		}
	}); ctlErr != nil {
		return p, ctlErr
	}
	return p, err
}

func checkPeerUser(fd int) error {
	uid, err := peerUID(fd)
	switch {
	case err != nil:
		return fmt.Errorf("cannot determine the user of the process at the other end: %w", err)
	case int(uid) != os.Geteuid():
		return fmt.Errorf("the process at the other end belongs to another user (uid %d)", uid)
	}
	return nil
}
