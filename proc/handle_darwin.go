package proc

import (
	"syscall"
	"time"
)

// processHandle is a process that is checked before each signal. This code was compiled, not run.
type processHandle struct {
	table *Table
	id    Identity
}

func openHandle(t *Table, id Identity) (processHandle, error) {
	return processHandle{t, id}, t.check(id)
}

func (h processHandle) send(s Signal) error {
	if err := h.table.check(h.id); err != nil {
		return err
	}
	return signalError(s, syscall.Kill(h.id.PID, unixSignals[s]))
}

// resume continues a suspended process.
func (h processHandle) resume() {
	if h.table.check(h.id) == nil {
		_ = syscall.Kill(h.id.PID, syscall.SIGCONT)
	}
}

// ended reports whether the process ends within the given time.
func (h processHandle) ended(wait time.Duration) bool {
	if !h.table.Alive(h.id) {
		return true
	}
	time.Sleep(min(wait, 50*time.Millisecond))
	return false
}

func (h processHandle) close() {}
