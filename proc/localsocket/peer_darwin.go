package localsocket

import (
	"golang.org/x/sys/unix"

	"rollcall/proc"
)

// peer returns the process at the other end.
func peer(fd int) (proc.Identity, error) {
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	if err != nil {
		return proc.Identity{}, err
	}
	p, err := proc.Open().Find(pid)
	return p.Identity, err
}

// checkBoundary returns an error unless a process that peer returned is in the boundary of this one.
func checkBoundary(id proc.Identity) error { return proc.CheckBoundary(id) }
