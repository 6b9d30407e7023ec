package proc

import (
	"fmt"
	"time"

	"golang.org/x/sys/windows"
)

// processHandle is a process held by its handle.
type processHandle struct{ handle windows.Handle }

func openHandle(_ *Table, id Identity) (processHandle, error) {
	handle, err := openProcess(id, windows.PROCESS_TERMINATE)
	return processHandle{handle}, err
}

func (h processHandle) send(s Signal) error {
	if s != Kill {
		return fmt.Errorf("%s: %w", s, ErrUnsupported)
	}
	if h.ended(0) {
		return ErrGone
	}
	err := windows.TerminateProcess(h.handle, 1)
	if err != nil && h.ended(0) {
		return ErrGone
	}
	if err != nil {
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
