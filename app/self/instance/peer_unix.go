//go:build linux || darwin

package instance

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"

	"rollcall/proc"
	"rollcall/proc/localsocket"
)

// checkPeer returns an error unless the process at the other end belongs to this user and, on Linux, runs under the same conditions: see
// proc.CheckBoundary. It returns the process also with an error, as far as it is known. On macOS only the user is checked, and no process
// is returned. by is when the connection existed already, from sinceBoot.
func checkPeer(conn net.Conn, by uint64) (p proc.Process, err error) {
	p, uid, err := localsocket.Peer(conn)
	switch {
	case uid < 0:
		return p, fmt.Errorf("cannot determine the user of the process at the other end: %w", err)
	case uid != os.Geteuid():
		return p, fmt.Errorf("the process at the other end belongs to another user (uid %d)", uid)
	case runtime.GOOS != "linux":
		return proc.Process{}, nil
	case err == nil && p.Start > by: // what kernels before 6.5 do not notice
		err = proc.ErrGone
	case err == nil:
		err = localsocket.CheckBoundary(p.Identity)
	}
	if errors.Is(err, proc.ErrForeign) {
		err = outside(err)
	}
	return p, err
}
