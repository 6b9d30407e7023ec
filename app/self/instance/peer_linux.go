package instance

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"rollcall/proc"
)

// peerUID returns the user of the process at the other end of a socket.
func peerUID(fd int) (uint32, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}

// peerProcess returns the process that made the other end of a socket: the one that connected or, for the process that connected, the
// one that listens. Another process may have the socket meanwhile. by is when the connection existed already, from sinceBoot. With an error,
// peerProcess returns what is known of the process.
func peerProcess(fd int, by uint64) (p proc.Process, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return p, err
	}
	if p.PID = int(cred.Pid); p.PID == 0 {
		return p, outside(fmt.Errorf("%w: a pid namespace that is not visible", proc.ErrForeign))
	}
	// The descriptor makes sure that the pid is not yet that of another process. On kernels before 6.5, which have none, the process must have
	// started by the time of the connection.
	process, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	hasDescriptor := err == nil
	switch {
	case hasDescriptor:
		defer func() { _ = unix.Close(process) }()
	case !errors.Is(err, unix.ENOPROTOOPT) && !errors.Is(err, unix.EOPNOTSUPP):
		return p, fmt.Errorf("cannot determine the process at the other end: %w", err)
	}
	table := proc.OpenAt("/proc", "/etc") // pids of sockets are those of this process's own namespace, whatever HOST_PROC says
	found, err := table.Find(p.PID)
	if err == nil {
		p = found
		err = table.CheckBoundary(p.Identity)
	}
	switch {
	case hasDescriptor && hasEnded(process), err == nil && p.Start > by:
		err = proc.ErrGone
	case errors.Is(err, proc.ErrForeign):
		err = outside(err)
	}
	return p, err
}

// ticksPerSecond is the unit of proc.Identity.Start.
const ticksPerSecond = 100

// sinceBoot returns the time in the unit of proc.Identity.Start.
func sinceBoot() uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0
	}
	return uint64(now.Nano()) / (1e9 / ticksPerSecond)
}

// hasEnded reports whether the process of a descriptor has ended.
func hasEnded(process int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}
