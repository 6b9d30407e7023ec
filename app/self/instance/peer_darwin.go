package instance

import (
	"golang.org/x/sys/unix"

	"rollcall/proc"
)

// peerUID returns the user of the process at the other end of a socket.
func peerUID(fd int) (uint32, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}

// peerProcess returns no process: on macOS only the user is checked.
func peerProcess(int, uint64) (proc.Process, error) { return proc.Process{}, nil }

// sinceBoot returns 0: see peerProcess.
func sinceBoot() uint64 { return 0 }
