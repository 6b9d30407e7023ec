package proc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// The states of a process in <sys/proc.h> that matter here.
const (
	stopped = 4 // SSTOP
	zombie  = 5 // SZOMB
)

// List implements Lister.
func (t *Table) List(ctx context.Context) ([]Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("process table: %w", err)
	}
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("process table: %w", err)
	}
	rows := make([]Process, 0, len(all))
	for i := range all {
		if all[i].Proc.P_stat != zombie && all[i].Proc.P_pid > 0 {
			rows = append(rows, row(&all[i]))
		}
	}
	return rows, nil
}

// row makes the row of a process. The start time is the wall clock's time at its fork,
// which later changes of the clock do not affect.
func row(k *unix.KinfoProc) Process {
	started := k.Proc.P_starttime
	pid := int(k.Proc.P_pid)
	sid, err := unix.Getsid(pid)
	if err != nil {
		sid = 0
	}
	return Process{
		Identity: Identity{PID: pid, Start: uint64(started.Sec)*1e6 + uint64(started.Usec)},
		PPID:     int(k.Eproc.Ppid), SID: sid,
		Comm:    unix.ByteSliceToString(k.Proc.P_comm[:]),
		Started: time.Unix(started.Sec, int64(started.Usec)*1000), Suspended: k.Proc.P_stat == stopped,
	}
}

// Find implements Lister.
func (t *Table) Find(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, ErrGone
	}
	// For an unused pid the kernel returns no data, which x/sys reports as EIO.
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EIO) {
		return Process{}, ErrGone
	}
	if err != nil {
		return Process{}, fmt.Errorf("pid %d: %w", pid, err)
	}
	if int(k.Proc.P_pid) != pid || k.Proc.P_stat == zombie {
		return Process{}, ErrGone
	}
	return row(k), nil
}

// check returns nil when the process identified by id is alive, ErrGone when it is not,
// and another error when that can't be known.
func (t *Table) check(id Identity) error { return t.checkRow(id) }
