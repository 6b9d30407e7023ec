package proc

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// processHandle is a process held by its pidfd.
type processHandle struct{ fd int }

func openHandle(t *Table, id Identity) (processHandle, error) {
	fd, err := openPidfd(t, id)
	return processHandle{fd}, err
}

// openPidfd returns a descriptor of the process identified by id, or ErrGone. The descriptor stays with that process.
func openPidfd(t *Table, id Identity) (int, error) {
	fd, err := unix.PidfdOpen(id.PID, 0)
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EINVAL):
		return 0, ErrGone // EINVAL and ENOENT: the id of a thread
	case err != nil:
		return 0, fmt.Errorf("process %d can't be opened: %w", id.PID, err)
	}
	if err := t.check(id); err != nil { // only now is it certain which process has the pid
		unix.Close(fd)
		return 0, err
	}
	return fd, nil
}

func (h processHandle) send(s Signal) error {
	return signalError(s, unix.PidfdSendSignal(h.fd, unixSignals[s], nil, 0))
}

// resume continues a suspended process.
func (h processHandle) resume() { _ = unix.PidfdSendSignal(h.fd, unix.SIGCONT, nil, 0) }

// ended reports whether the process ends within the given time.
func (h processHandle) ended(wait time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(wait.Milliseconds()))
	return err == nil && n == 1
}

func (h processHandle) close() { _ = unix.Close(h.fd) }
