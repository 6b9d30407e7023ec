package proc

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"
)

// Signal is a way of asking a process to end.
type Signal int

// The signals. Windows cannot ask a process of another console to end: there Interrupt
// and Terminate fail with ErrUnsupported.
const (
	Interrupt Signal = iota + 1 // as Ctrl-C does: SIGINT
	Terminate                   // SIGTERM
	Kill                        // SIGKILL, TerminateProcess; the process can't refuse it
)

// String returns the signal in words: "interrupt".
func (s Signal) String() string {
	switch s {
	case Interrupt:
		return "interrupt"
	case Terminate:
		return "terminate"
	case Kill:
		return "kill"
	}
	return "no signal"
}

// Sendable reports whether this system can send the signal to a process of another
// console or session.
func (s Signal) Sendable() bool { return s == Kill || runtime.GOOS != "windows" }

// Handle refers to one process. Its methods affect that process or none: once the
// process has ended, a new process with its pid is not affected. On macOS, which has no
// such handles, the identity is checked right before each signal instead. A Handle must
// be used by one goroutine.
type Handle struct {
	id     Identity
	table  *Table
	handle processHandle
}

// Hold opens a handle on the process identified by id. Its errors are ErrGone, and
// ErrUnsupported for a table that isn't this machine's own (HOST_PROC), whose pids mean
// other processes here. Close the handle after use.
func (t *Table) Hold(id Identity) (*Handle, error) {
	if id.IsZero() {
		return nil, ErrGone
	}
	if !t.hasEvents() {
		return nil, ErrUnsupported
	}
	held, err := openHandle(t, id)
	if err != nil {
		return nil, err
	}
	return &Handle{id: id, table: t, handle: held}, nil
}

// Identity returns the identity of the process.
func (h *Handle) Identity() Identity { return h.id }

// Send sends the signal. It returns ErrGone when the process has ended. It also resumes
// a suspended process, which would react to no signal but Kill.
func (h *Handle) Send(s Signal) error {
	if err := h.handle.send(s); err != nil || s == Kill {
		return err
	}
	if p, err := h.table.Find(h.id.PID); err == nil && p.Identity == h.id && p.Suspended {
		h.handle.resume()
	}
	return nil
}

// Wait returns nil once the process has ended, reaped by its parent or not, or
// ctx's error.
func (h *Handle) Wait(ctx context.Context) error {
	for {
		slice := 100 * time.Millisecond
		if deadline, ok := ctx.Deadline(); ok {
			slice = min(slice, max(time.Until(deadline), 0))
		}
		if h.handle.ended(slice) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// Close releases the process.
func (h *Handle) Close() { h.handle.close() }

// Descendants returns the processes below root, parents before their children: the
// processes that root started, and those that these started, unless a process in
// between has ended. A row older than its parent is not a child: its parent was an
// earlier process with the same pid.
func Descendants(list []Process, root Identity) []Process {
	children := map[int][]Process{}
	var top *Process
	for i, p := range list {
		if p.Identity == root {
			top = &list[i]
		}
		children[p.PPID] = append(children[p.PPID], p)
	}
	if top == nil {
		return nil
	}
	var out []Process
	for next := []Process{*top}; len(next) > 0; next = next[1:] {
		own := children[next[0].PID]
		delete(children, next[0].PID) // a loop of pids, read while they changed, ends here
		slices.SortFunc(own, func(a, b Process) int { return cmp.Compare(a.Start, b.Start) })
		for _, p := range own {
			if p.Start >= next[0].Start && p.Identity != root {
				out, next = append(out, p), append(next, p)
			}
		}
	}
	return out
}
