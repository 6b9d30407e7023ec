package proc

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/windows"
)

// processHandle is a process held by its handle.
type processHandle struct{ handle windows.Handle }

func openHandle(t *Table, id Identity) (processHandle, error) {
	const access = windows.SYNCHRONIZE | windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.PROCESS_TERMINATE
	handle, err := windows.OpenProcess(access, false, uint32(id.PID))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return processHandle{}, ErrGone
	}
	if err != nil {
		return processHandle{}, fmt.Errorf("process %d: %w", id.PID, err)
	}
	// Only now is it certain which process has the pid.
	if err := t.check(id); err != nil {
		_ = windows.CloseHandle(handle)
		return processHandle{}, err
	}
	return processHandle{handle}, nil
}

func (h processHandle) send(s Signal) error {
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

// resume does nothing: TerminateProcess ends a suspended process too.
func (processHandle) resume() {}

// ended reports whether the process ends within the given time.
func (h processHandle) ended(wait time.Duration) bool {
	event, err := windows.WaitForSingleObject(h.handle, uint32(wait.Milliseconds()))
	return err == nil && event == windows.WAIT_OBJECT_0
}

func (h processHandle) close() { _ = windows.CloseHandle(h.handle) }
