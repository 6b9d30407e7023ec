package proc

import (
	"errors"
	"fmt"
	"io/fs"
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

// openProcess opens the process identified by id, to query it and to wait for it, and with the further
// rights in more. The caller closes the handle.
func openProcess(id Identity, more uint32) (windows.Handle, error) {
	if id.IsZero() {
		return 0, ErrGone
	}
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_QUERY_LIMITED_INFORMATION|more, false, uint32(id.PID))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return 0, ErrGone // what it returns for an unused pid
	}
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return 0, fmt.Errorf("%s: %w", id, fs.ErrPermission)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", id, err)
	}
	if err := verify(handle, id); err != nil {
		_ = windows.CloseHandle(handle)
		return 0, err
	}
	return handle, nil
}

// verify returns ErrGone unless the handle is that of the process identified by id, and
// the process is alive.
func verify(handle windows.Handle, id Identity) error {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(handle, &created, &exited, &kernel, &user); err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if uint64(created.HighDateTime)<<32|uint64(created.LowDateTime) != id.Start {
		return ErrGone
	}
	if event, err := windows.WaitForSingleObject(handle, 0); err == nil && event == windows.WAIT_OBJECT_0 {
		return ErrGone
	}
	return nil
}
