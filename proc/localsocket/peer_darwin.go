package localsocket

import "golang.org/x/sys/unix"

// peerPID returns the pid of the process at the other end.
func peerPID(fd int) (int, error) {
	return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
}
