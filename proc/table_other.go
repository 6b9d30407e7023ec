//go:build !linux && !darwin && !windows

package proc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v3/process"
)

// Table reads the process table of this machine through gopsutil. It keeps no
// processes: each answer is read again. Compiled and vetted, not run.
type Table struct{}

var _ Lister = (*Table)(nil)

// Open returns the table of this machine.
func Open() *Table { return &Table{} }

// hasEvents reports whether the processes of the table can end with an event.
func (t *Table) hasEvents() bool { return false }

func newExitEvents(*Table) (exitEvents, error) { return nil, errNoEvent }

// List implements Lister.
func (t *Table) List(ctx context.Context) ([]Process, error) {
	all, err := process.ProcessesWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("process table: %w", err)
	}
	var rows []Process
	for _, p := range all {
		if row, err := row(ctx, p); err == nil {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func row(ctx context.Context, p *process.Process) (Process, error) {
	created, err := p.CreateTimeWithContext(ctx)
	if err != nil {
		return Process{}, err
	}
	if status, err := p.StatusWithContext(ctx); err == nil && slices.Contains(status, process.Zombie) {
		return Process{}, ErrGone
	}
	name, err := p.NameWithContext(ctx)
	if err != nil {
		return Process{}, err
	}
	parent, _ := p.PpidWithContext(ctx)
	return Process{
		Identity: Identity{PID: int(p.Pid), Start: uint64(created)},
		PPID:     int(parent), Comm: name, Started: time.UnixMilli(created),
	}, nil
}

// Find implements Lister.
func (t *Table) Find(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, ErrGone
	}
	p, err := process.NewProcess(int32(pid))
	if errors.Is(err, process.ErrorProcessNotRunning) {
		return Process{}, ErrGone
	}
	if err != nil {
		return Process{}, fmt.Errorf("pid %d: %w", pid, err)
	}
	return row(context.Background(), p)
}

// gopsutilProcess returns gopsutil's view of a process, which reads details from the
// process's memory.
func gopsutilProcess(id Identity) *process.Process { return &process.Process{Pid: int32(id.PID)} }

// Args implements Details.
func (t *Table) Args(id Identity) ([]string, error) {
	return detail(t, id, gopsutilProcess(id).CmdlineSlice)
}

// Exe implements Details.
func (t *Table) Exe(id Identity) (string, error) { return detail(t, id, gopsutilProcess(id).Exe) }

// CWD implements Details.
func (t *Table) CWD(id Identity) (string, error) { return detail(t, id, gopsutilProcess(id).Cwd) }

// Env implements Details.
func (t *Table) Env(id Identity) ([]string, error) { return detail(t, id, gopsutilProcess(id).Environ) }

// OpenFiles implements Details.
func (t *Table) OpenFiles(Identity) ([]string, error) { return nil, ErrUnsupported }
