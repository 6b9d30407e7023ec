package proc

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"
)

// Signal is a way of asking a process to end, from the politest on.
type Signal int

// The signals. Windows has no polite way for a process of another console: there
// Interrupt and Terminate are ErrUnsupported.
const (
	Interrupt Signal = iota + 1 // as Ctrl-C does: SIGINT
	Terminate                   // SIGTERM
	Kill                        // SIGKILL, TerminateProcess; can't be refused
)

// String is the signal in words: "interrupt".
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

// Sendable says whether this system can send the signal to a process of another
// console or session.
func (s Signal) Sendable() bool { return s == Kill || runtime.GOOS != "windows" }

// Handle holds on to one process, so that whatever is done through it reaches
// that process or nobody: once it has ended, a newcomer with its pid is safe.
// On macOS, which has no such handles, its identity is checked right before
// each signal instead. A Handle is for one goroutine.
type Handle struct {
	id    Identity
	table *Table
	held  held
}

// Hold opens a handle on that very process. Its errors are ErrGone, and
// ErrUnsupported for a table that isn't this machine's own (HOST_PROC), whose
// pids mean other processes here. Close the handle after use.
func (t *Table) Hold(id Identity) (*Handle, error) {
	if id.IsZero() {
		return nil, ErrGone
	}
	if !t.live() {
		return nil, ErrUnsupported
	}
	held, err := hold(t, id)
	if err != nil {
		return nil, err
	}
	return &Handle{id: id, table: t, held: held}, nil
}

// Identity is the process that is held.
func (h *Handle) Identity() Identity { return h.id }

// Send sends the signal. ErrGone when the process has ended.
func (h *Handle) Send(s Signal) error { return h.held.send(s) }

// Wait returns nil once the process has ended, reaped by its parent or not, or
// ctx's error.
func (h *Handle) Wait(ctx context.Context) error {
	for {
		slice := 100 * time.Millisecond
		if deadline, ok := ctx.Deadline(); ok {
			slice = min(slice, max(time.Until(deadline), 0))
		}
		if h.held.ended(slice) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// Close lets go of the process.
func (h *Handle) Close() { h.held.close() }

// Descendants returns the processes below root, parents before their children:
// what a process started and what these started in turn, as far as no process
// between has ended. A row older than its parent is not a child: it only has a
// parent's pid that was used before.
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
