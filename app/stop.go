package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/app/store/fault"
	"rollcall/proc"
)

// The reasons for which a session can't be stopped.
var (
	// ErrNotRunning reports that the session has no process any more.
	ErrNotRunning = errors.New("not running")
	// ErrCannotStop reports that the session may run, and that Rollcall must not or
	// cannot end it.
	ErrCannotStop = errors.New("can't be stopped from here")
	// ErrMoved reports that the session has changed since the plan was made.
	ErrMoved = errors.New("changed meanwhile")
)

// The time that a process has after each signal. An agent that is interrupted stores its work first; after Kill only the
// kernel has to remove the process.
const (
	politeGrace = 5 * time.Second
	killGrace   = 2 * time.Second
)

// StopStep is one signal and the time that the process has to end after it.
type StopStep struct {
	Signal proc.Signal
	Grace  time.Duration
}

// StopPlan describes what a stop will do.
type StopPlan struct {
	Session Session
	// Through names the gateway or server that is asked to end the session's turn;
	// empty: the process is signalled.
	Through string
	// Process is the agent's own process. Tree contains the processes below it, parents first: those that still run after the
	// agent has ended are ended too.
	Process proc.Process
	Tree    []proc.Process
	Steps   []StopStep // in this order, until the process has ended
	// Commands holds the command lines of these processes, as far as they can be read.
	Commands map[proc.Identity]string
	// Also lists the other sessions that end with it: those of the same process, of any agent and home, and its sub-agents below it.
	Also []Session
	// Unasked lists the agents that did not answer, and of which a process that the plan ends may be: whether another of their sessions would
	// end with it is not known.
	Unasked []adapters.Name

	stopper adapters.Stopper
	idle    bool // of a command that stops all idle sessions
}

// StopResult is the result of a stop.
type StopResult struct {
	By   proc.Signal // the last signal that was needed; 0: none
	Took time.Duration
	Rest []proc.Process // processes of the tree that had to be ended after the agent
}

// signaller is a process table whose processes can be signalled; *proc.Table is one.
type signaller interface {
	Hold(id proc.Identity) (*proc.Handle, error)
}

// PlanStop reads the session again and returns how it would be stopped. Its errors wrap
// ErrNoSession, ErrNotRunning or ErrCannotStop.
func (c *Core) PlanStop(ctx context.Context, s Session) (*StopPlan, error) {
	return c.planStop(ctx, s, false)
}

// planStop is PlanStop; idle reports that a command stops all idle sessions.
func (c *Core) planStop(ctx context.Context, s Session, idle bool) (*StopPlan, error) {
	if s.Machine != "" {
		return c.planMachineStop(s)
	}
	now, err := c.currentSession(ctx, s)
	if err != nil {
		return nil, err
	}
	p := &StopPlan{Session: now, idle: idle}
	if idle && !now.MayStopIdle() {
		return nil, fmt.Errorf("%w: it isn't idle any more (%s)", ErrMoved, present.Status(now.Session))
	}
	adapter := c.source(now.Agent).adapter
	if stopper, ok := adapter.(adapters.Stopper); ok && (now.Remote != "" || now.Shared) {
		p.stopper, p.Through = stopper, throughName(&now)
		return p, c.canBeAsked(ctx, stopper, &now)
	}
	if err := stoppable(&now); err != nil {
		return nil, err
	}
	signals := []proc.Signal{proc.Terminate}
	if e, ok := adapter.(adapters.Ender); ok {
		signals, err = within(ctx, c.cfg.Limit, func(context.Context) ([]proc.Signal, error) { return e.EndBy(now.Session) })
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCannotStop, err)
		}
	}
	for _, s := range signals {
		if s.Sendable() { // the plan must not contain a signal that can't be sent
			p.Steps = append(p.Steps, StopStep{s, politeGrace})
		}
	}
	p.Steps = append(p.Steps, StopStep{proc.Kill, killGrace})
	if err := p.readTree(ctx, c.cfg.Table); err != nil {
		return nil, err
	}
	if err := c.mayBeSignalled(ctx, &now, p.Process); err != nil {
		return nil, err
	}
	p.readCommands(c.cfg.Table)
	return p, p.readOthers(ctx, c)
}

// canBeAsked returns why a stopper can't end the turn of s; nil if it can.
func (c *Core) canBeAsked(ctx context.Context, stopper adapters.Stopper, s *Session) error {
	if s.Status == adapters.Stopped {
		return ErrNotRunning
	}
	home := s.Remote
	if s.Remote == "" {
		home = c.programOf(s)
	}
	if checker, ok := stopper.(adapters.StopChecker); ok && s.Remote == "" {
		_, err := within(ctx, c.cfg.Limit, func(ctx context.Context) (struct{}, error) { return struct{}{}, checker.CanStop(ctx, s.Session) })
		if err != nil {
			return fmt.Errorf("%w: it lives in %s: %w", ErrCannotStop, home, err)
		}
	}
	if s.Status == adapters.Idle {
		return fmt.Errorf("%w: it lives in %s, and its turn is over", ErrCannotStop, home)
	}
	return nil
}

// programOf returns the program in which s lives, and its process.
func (c *Core) programOf(s *Session) string {
	name := s.Host
	if c.cfg.Table != nil && name == "" {
		if p, err := c.cfg.Table.Find(s.Process.PID); err == nil && p.Identity == s.Process {
			name = p.Comm
		}
	}
	return fmt.Sprintf("%s (process %d)", cmp.Or(present.Line(name), present.AgentName(s.Agent)), s.Process.PID)
}

// mayBeSignalled returns why the process of s must not be signalled; nil if it may be. Any
// program that can write into an agent's folder can name any process there, so the adapter
// must recognise the process as its agent's, and the process must belong to this user. A
// launch that its agent does not list yet runs in a process that Rollcall itself recorded,
// which may be a wrapper.
func (c *Core) mayBeSignalled(ctx context.Context, s *Session, p proc.Process) error {
	if owner, ok := c.source(s.Agent).adapter.(adapters.ProcessOwner); ok && (s.Launch == nil || !s.Launch.Unlisted) {
		switch mine, err := within(ctx, c.cfg.Limit, func(context.Context) (bool, error) { return owner.OwnsProcess(p), nil }); {
		case err != nil:
			return fmt.Errorf("%w: it is not known whether process %d belongs to %s: %w", ErrCannotStop, p.PID, s.Agent, err)
		case !mine:
			return fmt.Errorf("%w: %s names process %d, which is %q and no process of %s; end it yourself if you know what it is",
				ErrCannotStop, s.ID, p.PID, p.Comm, s.Agent)
		}
	}
	table, ok := c.cfg.Table.(interface {
		UID(id proc.Identity) (int, error)
	})
	if !ok {
		return nil
	}
	switch uid, err := table.UID(p.Identity); {
	case errors.Is(err, proc.ErrUnsupported):
		return nil // the system itself refuses to signal other users' processes
	case errors.Is(err, proc.ErrGone):
		return fmt.Errorf("%w: process %d has ended", ErrNotRunning, p.PID)
	case err != nil:
		return fmt.Errorf("%w: the user of process %d is not known: %w", ErrCannotStop, p.PID, err)
	case uid != os.Getuid():
		return fmt.Errorf("%w: process %d belongs to user %d, Rollcall runs as user %d; stop it as that user", ErrCannotStop, p.PID, uid, os.Getuid())
	}
	return nil
}

// throughName returns the name of the gateway or process that is asked to stop s.
func throughName(s *Session) string {
	if s.Remote != "" {
		return s.Remote
	}
	return fmt.Sprintf("the shared process %d", s.Process.PID)
}

// stoppable returns why no signal may be sent for a session; nil if one may be sent.
func stoppable(s *Session) error {
	switch {
	case s.Status == adapters.Stopped:
		return ErrNotRunning
	case s.Parent != "":
		return fmt.Errorf("%w: it is a sub-agent of %s and runs in its process: stop that session", ErrCannotStop, s.Parent)
	case s.Remote != "":
		return fmt.Errorf("%w: it runs on %s", ErrCannotStop, s.Remote)
	case s.Shared:
		return fmt.Errorf("%w: process %d hosts other sessions too; stop it in the agent itself", ErrCannotStop, s.Process.PID)
	case s.Process.IsZero():
		return fmt.Errorf("%w: its process is not known: %s", ErrCannotStop, s.Evidence)
	case s.Stale != nil:
		return fmt.Errorf("%w: its last known status is old: %s", ErrCannotStop, s.Stale.Reason)
	}
	return nil
}

// currentSession asks the agent for the session as it is now.
func (c *Core) currentSession(ctx context.Context, s Session) (Session, error) {
	now, err := c.Current(ctx, s.Agent, s.ID)
	if errors.Is(err, ErrNoAnswer) {
		err = fmt.Errorf("%w: %w", ErrCannotStop, err)
	}
	return now, err
}

// readTree reads the process and the tree below it.
func (p *StopPlan) readTree(ctx context.Context, table proc.Lister) error {
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

// Stop carries out the plan and returns once the session has stopped. It reads the session
// again first: a plan that no longer fits does nothing (ErrMoved, ErrNotRunning). It calls
// progress, which may be nil, before each signal. A signal reaches the process of the plan
// or none.
func (c *Core) Stop(ctx context.Context, p *StopPlan, progress func(StopStep)) (StopResult, error) {
	if p.Session.Machine != "" {
		began := time.Now()
		err := c.cfg.Machines.Stop(ctx, p.Session)
		return StopResult{Took: time.Since(began)}, err
	}
	now, err := c.planStop(ctx, p.Session, p.idle)
	if err == nil {
		err = p.stillFits(now)
	}
	if err != nil {
		return StopResult{}, asStopError(err)
	}
	defer c.RequestAgentRefresh(p.Session.Agent)
	c.Acting(p.Session.ID)
	if now.stopper != nil {
		began := time.Now()
		_, err := within(ctx, c.cfg.Limit, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, now.stopper.Stop(ctx, now.Session.Session)
		})
		return StopResult{Took: time.Since(began)}, err
	}
	if progress == nil {
		progress = func(StopStep) {}
	}
	now.Steps = p.Steps
	return now.end(ctx, c.cfg.Table, progress)
}

// Acting reports that the user is about to end a session, or its turn; see Config.Acting.
func (c *Core) Acting(session string) {
	if c.cfg.Acting != nil {
		c.cfg.Acting(session)
	}
}

// RequestAgentRefresh asks an agent again soon, where the core runs: something was done that its sessions may show.
func (c *Core) RequestAgentRefresh(name adapters.Name) {
	if s := c.source(name); s != nil {
		c.requestRefresh(s)
	}
}

// end ends the agent's process step by step, and then the processes that it left behind.
func (p *StopPlan) end(ctx context.Context, table proc.Lister, progress func(StopStep)) (StopResult, error) {
	h, ok := table.(signaller)
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
		tree = withNewDescendants(ctx, table, p.Session.Process, tree)
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
			r.Rest = endRemaining(ctx, h, tree)
			fault.Point("stop.done")
			r.Took = time.Since(began)
			return r, nil
		}
	}
	return r, fmt.Errorf("process %d still exists %s after it was killed: the kernel has not released it", p.Session.Process.PID, seconds(killGrace))
}

// withNewDescendants returns tree with the processes that have joined it since it was read. A process stays in it when its
// parent has ended.
func withNewDescendants(ctx context.Context, table proc.Lister, root proc.Identity, tree []proc.Process) []proc.Process {
	list, _ := table.List(ctx)
	for _, d := range proc.Descendants(list, root) {
		if !slices.ContainsFunc(tree, func(p proc.Process) bool { return p.Identity == d.Identity }) {
			tree = append(slices.Clip(tree), d)
		}
	}
	return tree
}

// awaitEnd reports whether the process ends within grace.
func awaitEnd(ctx context.Context, h *proc.Handle, grace time.Duration) (bool, error) {
	wait, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if h.Wait(wait) == nil {
		return true, nil
	}
	return false, ctx.Err()
}

// endRemaining ends the processes of the tree that have outlived the agent: with Terminate,
// on which tools store their results, and then with Kill. It returns them.
func endRemaining(ctx context.Context, h signaller, tree []proc.Process) []proc.Process {
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
