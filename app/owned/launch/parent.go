package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"rollcall/app"
	"rollcall/app/store/fault"
	"rollcall/bounded"
	"rollcall/proc"
)

// exit is the end of a process that the keeper started.
type exit struct {
	first  proc.Identity
	code   int
	signal string
}

// ErrTaken is returned by Start for a launch that starter no longer owns: it was cancelled, or another keeper has it.
var ErrTaken = errors.New("the launch was cancelled, or another keeper has started it")

// Start starts the process of a launch that starter has recorded, with this process as its parent, and returns the pid.
// What could not be stored after the start is logged. If nothing was started, it undoes what starter did.
func (k *Keeper) Start(ctx context.Context, id string, starter proc.Identity, c proc.Command, start func(proc.Command) (*proc.Child, error)) (pid int, err error) {
	self, taken := proc.Self(), false
	r, err := k.launches.update(ctx, id, func(r *Record) bool {
		taken = r.Starter == starter && r.Process.IsZero() && !r.Ended()
		if taken {
			r.Starter, r.Parent = self, self
		}
		return taken
	})
	switch {
	case err != nil:
		return 0, err
	case !taken:
		return 0, fmt.Errorf("launch %s: %w", id, ErrTaken)
	}
	fault.Point("launch.taken")
	ctx = context.WithoutCancel(ctx)
	if _, err := k.launches.locks.HandOver(ctx, lockOf(&r), self, r.Session); err != nil {
		return 0, errors.Join(err, k.launches.undo(ctx, id))
	}
	child, err := start(c)
	fault.Point("launch.started")
	if err != nil {
		return 0, errors.Join(err, k.launches.undo(ctx, id))
	}
	// update stores the end; it needs the record that recordStart has written.
	s := k.launches.recordStart(ctx, r, child)
	for _, w := range s.Warnings {
		k.log.Warn("a launch is not recorded in full", "launch", id, "error", w)
	}
	k.children.Go(func() { k.reap(ctx, id, child) })
	k.wake.Set()
	return child.PID(), nil
}

// reap waits for the end of a child and stores it.
func (k *Keeper) reap(ctx context.Context, id string, child *proc.Child) {
	code, err := child.Wait()
	if err != nil {
		k.log.Warn("the exit code of a launch is not known", "launch", id, "error", err)
		return
	}
	e := exit{child.Identity, code, child.Signal()}
	fault.Point("launch.exited")
	k.Troubles.Retry(ctx, part, "the exit code of a launch could not be stored", func() error { return k.launches.storeExit(ctx, id, e, k.core.Snapshot()) })
	k.wake.Set()
}

// storeExit stores the exit code of a launch, unless the process that was started has left the agent running, also one that
// the snapshot does not list yet.
func (l *Launches) storeExit(ctx context.Context, id string, e exit, snap *app.Snapshot) error {
	r, err := l.record(id)
	if err == nil && !r.Ended() && r.Process == e.first {
		if to, ok := l.Successor(snap)(r); ok {
			r, err = l.Move(ctx, id, to, "")
		}
	}
	if err == nil && !r.Ended() && r.Process != e.first && l.table.Alive(r.Process) {
		_, err = l.update(ctx, id, func(r *Record) bool { r.Parent = proc.Identity{}; return true })
	} else if err == nil {
		_, _, err = l.End(ctx, id, &e.code, e.signal)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the record was removed
	}
	return err
}

// WaitForChildren waits until every process that Start has started and every running hook has ended, and their results are
// stored.
func (k *Keeper) WaitForChildren() {
	k.children.Wait()
	k.hooks.Wait()
}

// codeUnknown reports whether a launch has ended with an exit code that will never be known.
func (l *Launches) codeUnknown(r *Record) bool {
	return r.Ended() && r.ExitCode == nil && !l.codeIsDue(r)
}

// codeIsDue reports whether the parent of a launch that has ended is about to store the exit code.
func (l *Launches) codeIsDue(r *Record) bool {
	return r.Ended() && r.ExitCode == nil && !r.Parent.IsZero() && l.now().Sub(r.EndedAt).Abs() < codeLimit && l.table.Alive(r.Parent)
}

// codePause is the pause between two looks at a record whose exit code is due.
const codePause = 20 * time.Millisecond

// waitForCode waits until the exit code of a launch is known or will never be, and returns the record.
func (l *Launches) waitForCode(ctx context.Context, id string) (Record, error) {
	for {
		r, err := l.record(id)
		// The agent may be seen to have ended before Rollcall's record is updated.
		soon := !r.Ended() && !r.Parent.IsZero() && !l.table.Alive(r.Process) && l.table.Alive(r.Parent)
		if err != nil || !soon && !l.codeIsDue(&r) {
			return r, err
		}
		if err := bounded.Wait(ctx, codePause); err != nil {
			return r, err
		}
	}
}
