package proc

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/windows"
)

// held is a process held by its handle.
type held struct{ handle windows.Handle }

func hold(t *Table, id Identity) (held, error) {
	const access = windows.SYNCHRONIZE | windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.PROCESS_TERMINATE
	handle, err := windows.OpenProcess(access, false, uint32(id.PID))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return held{}, ErrGone
	}
	if err != nil {
		return held{}, fmt.Errorf("process %d: %w", id.PID, err)
	}
	// Only now is it certain whose pid it is.
	if err := t.check(id); err != nil {
		_ = windows.CloseHandle(handle)
		return held{}, err
	}
	return held{handle}, nil
}

func (h held) send(s Signal) error {
	if s != Kill {
		return fmt.Errorf("%s: %w", s, ErrUnsupported)
	}
	if h.ended(0) {
		return ErrGone
	}
	if err := windows.TerminateProcess(h.handle, 1); err != nil {
		if h.ended(0) {
			return ErrGone
		}
		return fmt.Errorf("%s: %w", s, err)
	}
	return nil
}

// ended says whether the process has ended, waiting for that at most so long.
func (h held) ended(wait time.Duration) bool {
	event, err := windows.WaitForSingleObject(h.handle, uint32(wait.Milliseconds()))
	return err == nil && event == windows.WAIT_OBJECT_0
}

func (h held) close() { _ = windows.CloseHandle(h.handle) }
