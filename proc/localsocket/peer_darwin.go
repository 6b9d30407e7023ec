package localsocket

import (
	"golang.org/x/sys/unix"

	"rollcall/proc"
)

// peer implements Peer.
func peer(fd int) (p proc.Process, uid int, err error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return p, -1, err
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	if err == nil {
		p, err = proc.Open().Find(pid)
	}
	return p, int(cred.Uid), err
}

// CheckBoundary returns an error unless a process that Peer returned is in the boundary of this one.
func CheckBoundary(id proc.Identity) error { return proc.CheckBoundary(id) }
