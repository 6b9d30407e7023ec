package localsocket

import (
	"errors"

	"golang.org/x/sys/unix"

	"rollcall/proc"
)

// peer returns the process at the other end.
func peer(fd int) (proc.Identity, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return proc.Identity{}, err
	}
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if err != nil && !errors.Is(err, unix.ENOPROTOOPT) { // older kernels know only the pid
		return proc.Identity{}, proc.ErrGone
	}
	p, errFind := own().Find(int(cred.Pid))
	if err == nil {
		defer unix.Close(pidfd)
		if errors.Is(unix.PidfdSendSignal(pidfd, 0, nil, 0), unix.ESRCH) {
			return proc.Identity{}, proc.ErrGone
		}
	}
	return p.Identity, errFind
}

// own returns the table of this process's own pid namespace, whatever HOST_PROC says: the pids of sockets are those of it.
func own() *proc.Table { return proc.OpenAt("/proc", "/etc") }

// checkBoundary returns an error unless a process that peer returned is in the boundary of this one.
func checkBoundary(id proc.Identity) error { return own().CheckBoundary(id) }
