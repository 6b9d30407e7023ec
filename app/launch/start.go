package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode"

	"rollcall/adapters"
	"rollcall/app/fault"
	"rollcall/app/lock"
	"rollcall/proc"
)

// Variable stands in the environment of everything that a launch starts, with
// the launch's id: it finds the agent behind a wrapper that is gone.
const Variable = "ROLLCALL_LAUNCH"

// Request is a launch as the user wants it.
type Request struct {
	Task  adapters.Task
	Group string
	Spec  string // path of a file that is appended to the prompt
	Files []string
	Hooks []Hook
	// Branch is that of the worktree that was made for the launch.
	Branch string
	// Force starts it in a folder that is locked or occupied.
	Force bool
	// KeepEnv leaves the variables in place that the agent's adapter would drop.
	KeepEnv bool
}

// Plan is a launch that could be carried out: what the user sees before it is.
type Plan struct {
	Agent   adapters.Name
	Request Request
	Command adapters.Command
	Env     []string // the whole environment, but for Variable
	Dropped []string // the variables that are left out and are set here
}

// Prepare finds the agent's program and makes the command. env is the
// environment to begin with. Nothing is written yet.
func Prepare(a adapters.Adapter, req Request, env []string) (*Plan, error) {
	launcher, ok := a.(adapters.Launcher)
	if !ok {
		return nil, fmt.Errorf("%s can't be launched from here", a.Name())
	}
	dir, err := lock.RealPath(req.Task.Dir)
	if err != nil {
		return nil, err
	}
	req.Task.Dir = dir
	if err := errors.Join(checkMode(launcher, req.Task.Mode), checkModel(req.Task.Model)); err != nil {
		return nil, err
	}
	task := req.Task
	if task.Prompt, err = compose(&req); err != nil {
		return nil, err
	}
	if strings.TrimSpace(task.Prompt) == "" && !task.Terminal {
		return nil, errors.New("a launch in the background needs a prompt")
	}
	program, err := launcher.Program(exec.LookPath)
	if err != nil {
		return nil, err
	}
	p := &Plan{Agent: a.Name(), Request: req}
	if p.Command, err = launcher.Command(program, task); err != nil {
		return nil, err
	}
	drop := p.Command.Drop
	if req.KeepEnv {
		drop = nil
	}
	for _, name := range drop {
		if isSet(env, name) {
			p.Dropped = append(p.Dropped, name)
		}
	}
	p.Env = proc.ChildEnv(env, drop, nil)
	return p, nil
}

func isSet(env []string, name string) bool {
	for _, e := range env {
		if n, v, _ := strings.Cut(e, "="); n == name && v != "" {
			return true
		}
	}
	return false
}

func checkMode(l adapters.Launcher, mode string) error {
	if mode == "" {
		return nil
	}
	var names []string
	for _, m := range l.Modes() {
		if m.Name == mode {
			return nil
		}
		names = append(names, m.Name)
	}
	if names == nil {
		return fmt.Errorf("this agent has no permission modes, so not %q either", mode)
	}
	return fmt.Errorf("the mode is one of %s, not %q", strings.Join(names, ", "), mode)
}

// checkModel refuses what an agent could take for a switch instead.
func checkModel(model string) error {
	if strings.HasPrefix(model, "-") || strings.TrimSpace(model) != model || strings.ContainsFunc(model, unicode.IsControl) {
		return fmt.Errorf("%q is no name of a model", model)
	}
	return nil
}

// Started is a launch that was carried out.
type Started struct {
	Record Record
	Child  *proc.Child
	// Warnings are what went wrong after the start: the agent runs, and what
	// Rollcall keeps of it is incomplete.
	Warnings []error
}

// retries is how often bookkeeping after the start is tried.
const retries = 3

// Start carries out a plan in the background. The folder is locked first, for
// this process until the agent's exists; occupied is asked meanwhile, with the
// folder's real path, and may refuse (not when forced). Until the process runs
// any failure undoes everything. Afterwards nothing does: what the user started
// is never ended for the sake of bookkeeping.
func (l *Launches) Start(ctx context.Context, p *Plan, occupied func(path string) error) (*Started, error) {
	if p.Request.Task.Terminal {
		return nil, errors.New("a launch in a terminal is not one in the background: see Here")
	}
	r, err := l.newRecord(p)
	if err != nil {
		return nil, err
	}
	self := r.Starter
	r.Log = l.logFile(r.ID)
	if p.Request.Force {
		occupied = nil
	}
	k := lockOf(&r)
	k.Owner = self
	if _, err = l.locks.Take(ctx, k, p.Request.Force, occupied); err != nil {
		return nil, err
	}
	child, err := l.run(ctx, p, &r)
	if err != nil {
		return nil, errors.Join(err, l.undo(ctx, r.ID))
	}
	return l.book(context.WithoutCancel(ctx), r, child), nil
}

// newRecord is the record of a plan that this process carries out.
func (l *Launches) newRecord(p *Plan) (Record, error) {
	self := proc.Self()
	if self.IsZero() {
		return Record{}, errors.New("this process can't be found in the process table, so no lock could name it")
	}
	t := &p.Request.Task
	return Record{
		ID: newID(), Agent: p.Agent, Session: p.Command.Session, Starter: self, Dir: t.Dir, Prompt: t.Prompt, Model: t.Model, Mode: t.Mode,
		Group: p.Request.Group, Spec: p.Request.Spec, Branch: p.Request.Branch, Hooks: p.Request.Hooks, LaunchedAt: l.now(),
	}, nil
}

// undo removes what a start that failed has made.
func (l *Launches) undo(ctx context.Context, id string) error {
	ctx = context.WithoutCancel(ctx)
	return errors.Join(l.locks.Release(ctx, id), l.records.Remove(id), l.removeLogs(id))
}

// Here prepares a launch whose program takes the place of this very process, in
// the terminal that it has: the folder is locked and the record written as if
// the agent ran already. The caller then executes the plan's command with env;
// when that fails it calls undo.
func (l *Launches) Here(ctx context.Context, p *Plan, occupied func(path string) error) (r Record, env []string, undo func() error, err error) {
	if r, err = l.newRecord(p); err != nil {
		return r, nil, nil, err
	}
	if p.Request.Force {
		occupied = nil
	}
	r.Process = r.Starter // an exec keeps pid and start time
	if _, err = l.locks.Take(ctx, lockOf(&r), p.Request.Force, occupied); err != nil {
		return r, nil, nil, err
	}
	undo = func() error { return l.undo(ctx, r.ID) }
	if err = l.records.Write(r.ID, r); err != nil {
		return r, nil, nil, errors.Join(err, undo())
	}
	return r, proc.ChildEnv(p.Env, nil, map[string]string{Variable: r.ID}), undo, nil
}

// run writes the record and the prompt, and starts the program.
func (l *Launches) run(ctx context.Context, p *Plan, r *Record) (*proc.Child, error) {
	if err := os.MkdirAll(l.logs, 0o700); err != nil {
		return nil, err
	}
	if err := l.records.Write(r.ID, r); err != nil {
		return nil, err
	}
	fault.Point("launch.recorded")
	c := proc.Command{
		Path: p.Command.Path, Args: p.Command.Args, Dir: r.Dir, Output: r.Log,
		Env: proc.ChildEnv(p.Env, nil, map[string]string{Variable: r.ID}),
	}
	if p.Command.Stdin != "" {
		c.Stdin = l.inputFile(r.ID)
		if err := os.WriteFile(c.Stdin, []byte(p.Command.Stdin), 0o600); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fault.Point("launch.ready")
	child, err := proc.Start(c)
	fault.Point("launch.started")
	return child, err
}

// book writes down what runs now.
func (l *Launches) book(ctx context.Context, r Record, child *proc.Child) *Started {
	s := &Started{Record: r, Child: child}
	try := func(what string, f func() error) {
		var err error
		for i := range retries {
			if err = f(); err == nil {
				return
			}
			<-time.After(time.Duration(i+1) * 20 * time.Millisecond)
		}
		s.Warnings = append(s.Warnings, fmt.Errorf("it runs, but %s: %w", what, err))
	}
	_ = os.Remove(l.inputFile(r.ID)) // the child has it open
	if child.Identity.IsZero() {     // ended at once
		code, err := child.Wait()
		if err != nil {
			s.Warnings = append(s.Warnings, err)
		}
		try("its end was not written down", func() (err error) {
			s.Record, _, err = l.End(ctx, r.ID, &code)
			return err
		})
		return s
	}
	r.Process = child.Identity
	s.Record = r
	try("its record was not written", func() (err error) {
		s.Record, err = l.update(ctx, r.ID, func(old *Record) bool { return old.began(child.Identity) })
		return err
	})
	fault.Point("launch.booked")
	try("its folder is not locked", func() (err error) {
		s.Record, err = l.handOver(ctx, s.Record)
		return err
	})
	return s
}

// began notes the process that was started. The agent behind it may have been
// found before.
func (r *Record) began(first proc.Identity) bool {
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
