package proc

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

var unixSignals = map[Signal]unix.Signal{Interrupt: unix.SIGINT, Terminate: unix.SIGTERM, Kill: unix.SIGKILL}

// held is a process held by its pidfd.
type held struct{ fd int }

func hold(t *Table, id Identity) (held, error) {
	fd, err := unix.PidfdOpen(id.PID, 0)
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EINVAL):
		return held{}, ErrGone
	case err != nil:
		return held{}, fmt.Errorf("process %d: pidfd_open: %w", id.PID, err)
	}
	// Only now is it certain whose pid it is.
	if err := t.check(id); err != nil {
		unix.Close(fd)
		return held{}, err
	}
	return held{fd}, nil
}

func (h held) send(s Signal) error {
	err := unix.PidfdSendSignal(h.fd, unixSignals[s], nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	return nil
}

// ended says whether the process has ended, waiting for that at most so long.
func (h held) ended(wait time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(wait.Milliseconds()))
	return err == nil && n == 1
}

func (h held) close() { _ = unix.Close(h.fd) }
