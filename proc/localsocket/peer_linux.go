package localsocket

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"rollcall/proc"
)

// peer implements Peer. The descriptor of the process makes sure that its pid is not yet that of another one.
func peer(fd int) (p proc.Process, uid int, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return p, -1, err
	}
	p.PID, uid = int(cred.Pid), int(cred.Uid)
	if p.PID == 0 {
		return p, uid, fmt.Errorf("%w: a pid namespace that is not visible", proc.ErrForeign)
	}
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	isOld := errors.Is(err, unix.ENOPROTOOPT) || errors.Is(err, unix.EOPNOTSUPP) // such a kernel knows only the pid
	switch {
	case err == nil:
		defer unix.Close(pidfd)
	case !isOld:
		return p, uid, proc.ErrGone
	}
	found, err := own().Find(p.PID)
	switch {
	case err != nil:
		return p, uid, err
	case !isOld && hasEnded(pidfd):
		return p, uid, proc.ErrGone
	}
	return found, uid, nil
}

// hasEnded reports whether the process of a descriptor has ended.
func hasEnded(pidfd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// own returns the table of this process's own pid namespace, whatever HOST_PROC says: the pids of sockets are those of it.
func own() *proc.Table { return proc.OpenAt("/proc", "/etc") }

// CheckBoundary returns an error unless a process that Peer returned is in the boundary of this one.
func CheckBoundary(id proc.Identity) error { return own().CheckBoundary(id) }
