package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store"
	"rollcall/app/store/fault"
	"rollcall/proc"
)

// Variable is the environment variable with the launch's id. All processes of a launch have it, so that the agent is
// found after its wrapper has ended.
const Variable = app.LaunchVariable

// Started is a launch that was started.
type Started struct {
	Record Record
	PID    int           // of the process that was started
	First  proc.Identity // the process that was started; zero if it had ended before it could be seen
	Child  *proc.Child   // nil: the user's keeper is its parent
	// Warnings are errors after the start. The agent runs, but its record or lock may be incomplete, or another user's agent may work in its folder.
	Warnings []error
}

// Start carries out a plan in the background. It first locks the folder; this process owns the lock until the agent's
// process exists. Unless the plan is forced, it calls occupied with the folder's real path; an error of occupied makes it
// fail. A failure before the process runs undoes everything. After that Start never ends the process, and reports failures
// as warnings; only an agent that does not take its prompt (adapters.Opener) is ended, which is an error.
func (l *Launches) Start(ctx context.Context, p *Plan, occupied func(path string) error) (*Started, error) {
	warnings := strangers(ctx, l.table, os.Getuid(), p.Request.Task.Dir)
	s, err := l.start(ctx, p, occupied)
	if err != nil {
		return s, err
	}
	switch err := l.open(ctx, p, s); {
	case errors.Is(err, adapters.ErrUnconfirmed):
		warnings = append(warnings, err)
	case err != nil:
		return nil, err
	}
	s.Warnings = append(s.Warnings, warnings...)
	return s, nil
}

func (l *Launches) start(ctx context.Context, p *Plan, occupied func(path string) error) (*Started, error) {
	if p.Request.Task.Terminal {
		return nil, errors.New("a launch in a terminal cannot be started in the background")
	}
	unkept, err := l.ready(ctx, p.Request.Hooks)
	if err != nil {
		return nil, err
	}
	r, err := l.newRecord(p)
	if err != nil {
		return nil, err
	}
	self := r.Starter
	if unkept != nil {
		r.Parent = self // while this process lives, the keeper's hooks wait for the exit code
	}
	r.Log = l.logFile(r.ID)
	if p.Request.Force {
		occupied = nil
	}
	k := lockOf(&r)
	k.Owner = self
	_, err = l.locks.Take(ctx, k, p.Request.Force, occupied)
	if err != nil {
		return nil, err
	}
	c, err := l.writeRecord(ctx, p, &r)
	if before := p.Command.Before; err == nil && before != nil {
		err = before(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, l.undo(ctx, r.ID))
	}
	if l.host != nil && unkept == nil {
		return l.startKept(context.WithoutCancel(ctx), r, c)
	}
	child, err := proc.Start(c)
	fault.Point("launch.started")
	if err != nil {
		return nil, errors.Join(err, l.undo(ctx, r.ID))
	}
	s := l.recordStart(context.WithoutCancel(ctx), r, child)
	switch {
	case errors.Is(unkept, errApart):
		s.Warnings = append(s.Warnings, unkept)
	case unkept != nil:
		const text = "its exit code will not be known, and its record is updated only by the next process of Rollcall"
		s.Warnings = append(s.Warnings, fmt.Errorf("%s: %w", text, unkept))
	}
	return s, nil
}

// newRecord returns the record of a plan that this process is about to carry out.
func (l *Launches) newRecord(p *Plan) (Record, error) {
	self := proc.Self()
	if self.IsZero() {
		return Record{}, errors.New("cannot lock the folder: this process is not in the process table (is /proc mounted?)")
	}
	t := &p.Request.Task
	return Record{
		ID: store.NewID("l-", 5), Agent: p.Agent, Session: p.Command.Session, Starter: self, Host: proc.Host(), Space: proc.Space(), Dir: t.Dir, Home: cmp.Or(p.Command.Home, t.Home), Prompt: promptHead(t.Prompt), Model: t.Model, Mode: t.Mode,
		Group: p.Request.Group, Spec: p.Request.Spec, Branch: p.Request.Branch, Hooks: p.Request.Hooks, LaunchedAt: l.now(), Unreported: true, Pipe: p.Command.Pipe,
	}, nil
}

// undo removes the lock, record and logs of a start that failed.
func (l *Launches) undo(ctx context.Context, id string) error {
	ctx = context.WithoutCancel(ctx)
	return errors.Join(l.locks.Release(ctx, id), l.records.Remove(id), l.removeLogs(id))
}

// Here prepares a launch whose program replaces this process in its terminal. It locks the folder and writes the record
// as if the agent ran already. The caller must then execute the plan's command with env, and call undo if that fails.
func (l *Launches) Here(ctx context.Context, p *Plan, occupied func(path string) error) (r Record, env []string, undo func() error, err error) {
	_, err = l.ready(ctx, p.Request.Hooks)
	if err != nil {
		return r, nil, nil, err
	}
	r, err = l.newRecord(p)
	if err != nil {
		return r, nil, nil, err
	}
	if p.Request.Force {
		occupied = nil
	}
	r.Process = r.Starter // exec does not change pid and start time
	_, err = l.locks.Take(ctx, lockOf(&r), p.Request.Force, occupied)
	if err != nil {
		return r, nil, nil, err
	}
	undo = func() error { return l.undo(ctx, r.ID) }
	err = errors.Join(l.keepPrompt(r.ID, p), l.keepSecret(&r, p), l.records.Write(r.ID, r))
	if err != nil {
		return r, nil, nil, errors.Join(err, undo())
	}
	if before := p.Command.Before; before != nil {
		err = before(ctx)
		if err != nil {
			return r, nil, nil, errors.Join(err, undo())
		}
	}
	return r, p.childEnv(r.ID), undo, nil
}

// writeRecord writes the record and the prompt, and returns the command to start.
func (l *Launches) writeRecord(ctx context.Context, p *Plan, r *Record) (c proc.Command, err error) {
	if err := errors.Join(l.keepPrompt(r.ID, p), l.keepSecret(r, p)); err != nil {
		return c, err
	}
	if err := l.records.Write(r.ID, r); err != nil {
		return c, err
	}
	fault.Point("launch.recorded")
	c = proc.Command{
		Path: p.Command.Path, Args: p.Command.Args, Dir: r.Dir, Output: r.Log,
		Env: p.childEnv(r.ID),
	}
	if p.Command.Stdin != "" {
		c.Stdin = l.inputFile(r.ID)
		if err := l.writeNew(c.Stdin, p.Command.Stdin); err != nil {
			return c, err
		}
	}
	if r.Pipe {
		c.Pipe, c.Errors = l.pipeFile(r.ID), l.errorsFile(r.ID)
		if err := l.inLogs(func(d *store.Dir) error { return d.MakePipe(filepath.Base(c.Pipe)) }); err != nil {
			return c, err
		}
	}
	fault.Point("launch.ready")
	return c, ctx.Err()
}

// recordStart stores the process that was started in the record and the lock.
func (l *Launches) recordStart(ctx context.Context, r Record, child *proc.Child) *Started {
	s := &Started{Record: r, PID: child.PID(), First: child.Identity, Child: child}
	warn := func(what string, err error) {
		if err != nil {
			s.Warnings = append(s.Warnings, fmt.Errorf("the agent was started, but %s: %w", what, err))
		}
	}
	_ = os.Remove(l.inputFile(r.ID)) // the child has the file open, or has read it
	warn("its prompt was not given to it", child.Input)
	process := child.Identity
	if process.IsZero() { // the child ended at once; if it was a wrapper, the agent may still run
		process, _ = l.survivor(&r)
	}
	if process.IsZero() {
		code, waitErr := child.Wait()
		ended, _, err := l.End(ctx, r.ID, &code, child.Signal())
		if err == nil {
			s.Record = ended
		}
		warn("its end was not recorded", errors.Join(waitErr, err))
		return s
	}
	s.Record.Process = process
	started, err := l.update(ctx, r.ID, func(old *Record) bool { return old.addStarted(process) })
	if err == nil {
		s.Record = started
	}
	warn("its record was not written", err)
	fault.Point("launch.booked")
	s.Record, err = l.handOver(ctx, s.Record)
	warn("its folder is not locked", err)
	return s
}

// addStarted adds the process that was started to the record, and reports whether the record changed. A keeper may
// already have found the agent behind that process.
func (r *Record) addStarted(first proc.Identity) bool {
	switch {
	case r.Process.IsZero():
		r.Process = first
	case r.Process != first && !slices.Contains(r.Former, first):
		r.Former = slices.Insert(r.Former, 0, first)
	default:
		return false
	}
	return true
}
