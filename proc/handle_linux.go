package proc

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

var unixSignals = map[Signal]unix.Signal{Interrupt: unix.SIGINT, Terminate: unix.SIGTERM, Kill: unix.SIGKILL}

// processHandle is a process held by its pidfd.
type processHandle struct{ fd int }

func openHandle(t *Table, id Identity) (processHandle, error) {
	fd, err := unix.PidfdOpen(id.PID, 0)
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EINVAL):
		return processHandle{}, ErrGone
	case err != nil:
		return processHandle{}, fmt.Errorf("process %d: pidfd_open: %w", id.PID, err)
	}
	// Only now is it certain which process has the pid.
	if err := t.check(id); err != nil {
		unix.Close(fd)
		return processHandle{}, err
	}
	return processHandle{fd}, nil
}

func (h processHandle) send(s Signal) error {
	err := unix.PidfdSendSignal(h.fd, unixSignals[s], nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	return nil
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
