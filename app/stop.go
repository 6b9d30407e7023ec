package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app/fault"
	"rollcall/proc"
)

// The ways in which a session can't be stopped, told apart with errors.Is.
var (
	// ErrNotRunning: the session has no process any more.
	ErrNotRunning = errors.New("not running")
	// ErrCannotStop: it may run, and Rollcall must not or cannot end it.
	ErrCannotStop = errors.New("can't be stopped from here")
	// ErrMoved: it isn't what it was when the plan was made.
	ErrMoved = errors.New("changed meanwhile")
)

// How long a process has after each signal. A coding agent that is interrupted
// writes down what it did; after Kill the kernel alone has work to do.
const (
	politeGrace = 5 * time.Second
	killGrace   = 2 * time.Second
)

// StopStep is one signal and how long it is given.
type StopStep struct {
	Signal proc.Signal
	Grace  time.Duration
}

// StopPlan says what a stop will do, before it does it.
type StopPlan struct {
	Session Session
	// Through is the gateway or server that is asked to end the session's turn;
	// empty: the process is signalled.
	Through string
	// Process is the agent's own, and Tree what runs below it, parents first:
	// what of it is left once the agent has ended is ended as well.
	Process proc.Process
	Tree    []proc.Process
	Steps   []StopStep // in this order, until the process has ended
	// Also are other sessions of the same process, which end with it.
	Also []Session

	stopper adapters.Stopper
}

// StopResult says how a stop went.
type StopResult struct {
	By   proc.Signal // the last that was needed; 0: none
	Took time.Duration
	Rest []proc.Process // of the tree, that had to be ended after the agent
}

// holder is a process table whose processes can be signalled; *proc.Table is one.
type holder interface {
	Hold(id proc.Identity) (*proc.Handle, error)
}

// PlanStop asks anew for the session and says how it would be stopped. Its
// errors wrap ErrNoSession, ErrNotRunning or ErrCannotStop.
func (c *Core) PlanStop(ctx context.Context, s Session) (*StopPlan, error) {
	now, err := c.again(ctx, s)
	if err != nil {
		return nil, err
	}
	p := &StopPlan{Session: now}
	adapter := c.source(now.Agent).adapter
	if stopper, ok := adapter.(adapters.Stopper); ok && (now.Remote != "" || now.Shared) {
		p.stopper, p.Through = stopper, throughName(&now)
		return p, nil
	}
	if err := stoppable(&now); err != nil {
		return nil, err
	}
	signals := []proc.Signal{proc.Terminate}
	if e, ok := adapter.(adapters.Ender); ok {
		if signals, err = e.EndBy(now.Session); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCannotStop, err)
		}
	}
	for _, s := range signals {
		if s.Sendable() { // else it would be promised and left out
			p.Steps = append(p.Steps, StopStep{s, politeGrace})
		}
	}
	p.Steps = append(p.Steps, StopStep{proc.Kill, killGrace})
	p.Also = c.sharers(ctx, &now)
	return p, p.look(ctx, c.cfg.Table)
}

// throughName names whom a stop is asked of.
func throughName(s *Session) string {
	if s.Remote != "" {
		return s.Remote
	}
	return fmt.Sprintf("process %d, which it shares", s.Process.PID)
}

// stoppable says why no signal may be sent for a session.
func stoppable(s *Session) error {
	switch {
	case s.Status == adapters.Stopped:
		return ErrNotRunning
	case s.Parent != "":
		return fmt.Errorf("%w: it is a sub-agent of %s, which has the process: stop that one", ErrCannotStop, s.Parent)
	case s.Remote != "":
		return fmt.Errorf("%w: it runs on %s", ErrCannotStop, s.Remote)
	case s.Shared:
		return fmt.Errorf("%w: process %d hosts other sessions too; stop it in the agent itself", ErrCannotStop, s.Process.PID)
	case s.Process.IsZero():
		return fmt.Errorf("%w: no process is known to be its own: %s", ErrCannotStop, s.Evidence)
	case s.Stale != nil:
		return fmt.Errorf("%w: what is known of it is old: %s", ErrCannotStop, s.Stale.Reason)
	}
	return nil
}

// again asks the agent for the session as it is now.
func (c *Core) again(ctx context.Context, s Session) (Session, error) {
	if c.source(s.Agent) == nil {
		return Session{}, fmt.Errorf("%w: no agent %q", ErrNoSession, s.Agent)
	}
	snap := c.aside(All).RefreshOne(ctx, s.Agent, s.ID)
	if err := ctx.Err(); err != nil {
		return Session{}, err
	}
	now, err := exactly(snap, s.ID)
	if err == nil {
		return now, nil
	}
	for _, h := range snap.Adapters {
		if h.Name == s.Agent && h.State == Failed {
			return Session{}, fmt.Errorf("%w: %s", ErrCannotStop, h.Problems[0])
		}
	}
	return Session{}, err
}

func (c *Core) source(name adapters.Name) *source {
	for _, s := range c.sources {
		if s.adapter.Name() == name {
			return s
		}
	}
	return nil
}

// sharers are the other main sessions on the process of s.
func (c *Core) sharers(ctx context.Context, s *Session) []Session {
	var out []Session
	for _, o := range c.aside(0).RefreshOne(ctx, s.Agent).Sessions {
		if o.Process == s.Process && o.ID != s.ID && o.Live() && o.Parent == "" {
			out = append(out, o)
		}
	}
	return out
}

// aside is a core over the same adapters that leaves c's snapshot as it is.
func (c *Core) aside(since time.Duration) *Core {
	cfg := c.cfg
	cfg.Since, cfg.Watch, cfg.Totals = since, nil, false
	return New(cfg)
}

// look reads the tree below the process.
func (p *StopPlan) look(ctx context.Context, table proc.Lister) error {
	if table == nil {
		return fmt.Errorf("%w: this machine's processes can't be read", ErrCannotStop)
	}
	list, err := table.List(ctx)
	if err != nil && len(list) == 0 {
		return fmt.Errorf("%w: %w", ErrCannotStop, err)
	}
	i := slices.IndexFunc(list, func(r proc.Process) bool { return r.Identity == p.Session.Process })
	if i < 0 {
		return fmt.Errorf("%w: process %d has ended", ErrNotRunning, p.Session.Process.PID)
	}
	p.Process, p.Tree = list[i], proc.Descendants(list, list[i].Identity)
	return nil
}

// Stop does what the plan says and returns once the session has stopped. It
// asks anew first: a plan that no longer fits does nothing (ErrMoved,
// ErrNotRunning). progress, which may be nil, is told of each signal before it
// is sent. The signals reach that very process or nobody.
func (c *Core) Stop(ctx context.Context, p *StopPlan, progress func(StopStep)) (StopResult, error) {
	now, err := c.again(ctx, p.Session)
	if err != nil {
		return StopResult{}, err
	}
	defer c.touchAgent(now.Agent)
	if p.stopper != nil {
		began := time.Now()
		ctx, cancel := context.WithTimeout(ctx, c.cfg.Limit)
		defer cancel()
		err := p.stopper.Stop(ctx, now.Session)
		return StopResult{Took: time.Since(began)}, err
	}
	if err := stoppable(&now); err != nil {
		return StopResult{}, err
	}
	if now.Process != p.Session.Process {
		return StopResult{}, fmt.Errorf("%w: it runs in process %d now", ErrMoved, now.Process.PID)
	}
	if progress == nil {
		progress = func(StopStep) {}
	}
	return p.end(ctx, c.cfg.Table, progress)
}

func (c *Core) touchAgent(name adapters.Name) {
	if s := c.source(name); s != nil {
		c.touch(s)
	}
}

// end ends the agent's process step by step, and then what it left behind.
func (p *StopPlan) end(ctx context.Context, table proc.Lister, progress func(StopStep)) (StopResult, error) {
	h, ok := table.(holder)
	if !ok {
		return StopResult{}, fmt.Errorf("%w: %w", ErrCannotStop, proc.ErrUnsupported)
	}
	began := time.Now()
	handle, err := h.Hold(p.Session.Process)
	if errors.Is(err, proc.ErrGone) {
		return StopResult{}, ErrNotRunning
	}
	if err != nil {
		return StopResult{}, fmt.Errorf("%w: %w", ErrCannotStop, err)
	}
	defer handle.Close()
	fault.Point("stop.held")
	r := StopResult{}
	tree := p.Tree
	for _, step := range p.Steps {
		tree = grown(ctx, table, p.Session.Process, tree)
		progress(step)
		fault.Point("stop.signal")
		if err := handle.Send(step.Signal); errors.Is(err, proc.ErrUnsupported) {
			continue
		} else if err != nil && !errors.Is(err, proc.ErrGone) {
			return r, err
		}
		r.By = step.Signal
		if ended, err := awaitEnd(ctx, handle, step.Grace); err != nil {
			return r, err
		} else if ended {
			fault.Point("stop.ended")
			r.Rest = endRest(ctx, h, tree)
			fault.Point("stop.done")
			r.Took = time.Since(began)
			return r, nil
		}
	}
	return r, fmt.Errorf("process %d is still there %s after it was killed: the system holds it", p.Session.Process.PID, seconds(killGrace))
}

// grown is the tree as it is now and was: what leaves it by its parent's death
// is still the agent's.
func grown(ctx context.Context, table proc.Lister, root proc.Identity, tree []proc.Process) []proc.Process {
	list, _ := table.List(ctx)
	for _, d := range proc.Descendants(list, root) {
		if !slices.ContainsFunc(tree, func(p proc.Process) bool { return p.Identity == d.Identity }) {
			tree = append(slices.Clip(tree), d)
		}
	}
	return tree
}

func awaitEnd(ctx context.Context, h *proc.Handle, grace time.Duration) (bool, error) {
	wait, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if h.Wait(wait) == nil {
		return true, nil
	}
	return false, ctx.Err()
}

// endRest ends what of the tree has outlived the agent: tools write what they
// have on Terminate, and Kill ends the others.
func endRest(ctx context.Context, h holder, tree []proc.Process) []proc.Process {
	var rest []proc.Process
	var handles []*proc.Handle
	for _, p := range tree {
		handle, err := h.Hold(p.Identity)
		if err != nil {
			continue
		}
		defer handle.Close()
		if ended, _ := awaitEnd(ctx, handle, 0); ended {
			continue
		}
		_ = handle.Send(proc.Terminate)
		rest, handles = append(rest, p), append(handles, handle)
	}
	deadline := time.Now().Add(killGrace)
	for _, handle := range handles {
		if ended, _ := awaitEnd(ctx, handle, time.Until(deadline)); !ended {
			_ = handle.Send(proc.Kill)
		}
	}
	return rest
}
