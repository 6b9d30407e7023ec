package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/proc"
)

// readOthers adds to the plan the other sessions that end with it, of any agent and any home. It returns an error if the process
// must not be ended because of one: a session of its own runs below it, or, for a command that stops all idle sessions, another session
// has the same process.
func (p *StopPlan) readOthers(ctx context.Context, c *Core) error {
	owners := p.owners(ctx, c)
	snap := c.askOwners(ctx, owners)
	for _, o := range snap.Sessions() {
		if !o.Live() || o.Process.IsZero() || o.ID == p.Session.ID && o.Agent == p.Session.Agent {
			continue
		}
		same, child := o.Process == p.Process.Identity, o.Parent == p.Session.ID && o.Agent == p.Session.Agent
		switch below := p.inTree(o.Process); {
		case !same && !below:
		case below && !child:
			return fmt.Errorf("%w: session %s runs below process %d, in process %d; stop that one first", ErrCannotStop, nameOf(&o), p.Process.PID, o.Process.PID)
		case p.idle && same && o.Parent == "":
			return fmt.Errorf("%w: process %d is that of session %s too; if it is to end, use rollcall stop %s", ErrCannotStop, p.Process.PID, nameOf(&o), present.Line(p.Session.ID))
		case p.idle && o.Status != adapters.Idle:
			return fmt.Errorf("%w: its sub-agent %s would end with it", ErrCannotStop, nameOf(&o))
		case same && o.Parent != "": // a part of a session of the process
		default:
			p.Also = append(p.Also, o)
		}
	}
	for _, name := range snap.Incomplete() {
		switch process, may := owners[name]; {
		case !may || name == p.Session.Agent:
		case p.idle:
			return fmt.Errorf("%w: process %d may be one of %s, whose sessions could not be read", ErrCannotStop, process.PID, present.AgentName(name))
		default:
			p.Unasked = append(p.Unasked, name)
		}
	}
	return ctx.Err()
}

// owners returns the agents of which a process of the plan is, or may be: that one.
func (p *StopPlan) owners(ctx context.Context, c *Core) map[adapters.Name]proc.Process {
	out := map[adapters.Name]proc.Process{}
	for _, s := range c.sources {
		owner, ok := s.adapter.(adapters.ProcessOwner)
		if !ok {
			continue
		}
		for _, process := range append([]proc.Process{p.Process}, p.Tree...) {
			mine, err := within(ctx, c.cfg.Limit, func(context.Context) (bool, error) { return owner.OwnsProcess(process), nil })
			if mine || err != nil {
				out[s.adapter.Name()] = process
				break
			}
		}
	}
	return out
}

// patience is how long a plan waits for agents of which none of its processes is, once the others have answered.
const patience = time.Second

// askOwners asks all agents for their live sessions, and returns soon after the owners have answered.
func (c *Core) askOwners(ctx context.Context, owners map[adapters.Name]proc.Process) *Snapshot {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var once sync.Once
	return c.askApart(ctx, "", 0, Once{Progress: func(reading []adapters.Name, _ int) {
		isOwner := func(name adapters.Name) bool { return owners[name].PID != 0 }
		if !slices.ContainsFunc(reading, isOwner) {
			once.Do(func() { time.AfterFunc(patience, cancel) })
		}
	}})
}

// inTree reports whether a process is one below the plan's.
func (p *StopPlan) inTree(id proc.Identity) bool {
	return slices.ContainsFunc(p.Tree, func(below proc.Process) bool { return below.Identity == id })
}

// nameOf returns a session for a message: "01a1fc96-… (Codex, working)".
func nameOf(s *Session) string {
	return fmt.Sprintf("%s (%s, %s)", present.Line(s.ID), present.AgentName(s.Agent), present.Status(s.Session))
}

// AsksAgain returns the question that a command asks before it carries out a plan that ends more than its session; empty: it ends no other.
func (p *StopPlan) AsksAgain() string {
	if len(p.Also) == 0 {
		return ""
	}
	names := make([]string, 0, len(p.Also)+1)
	for _, s := range append([]Session{p.Session}, p.Also...) {
		names = append(names, nameOf(&s))
	}
	return fmt.Sprintf("End %s? They share process %d.", strings.Join(names, " and "), p.Process.PID)
}

// stillFits returns why a plan that was made again right before it is carried out must not be: it differs from what the user saw.
func (p *StopPlan) stillFits(now *StopPlan) error {
	if now.Session.Process != p.Session.Process {
		return fmt.Errorf("%w: it runs in process %d now", ErrMoved, now.Session.Process.PID)
	}
	for _, o := range now.Also {
		was := slices.IndexFunc(p.Also, func(s Session) bool { return s.ID == o.ID && s.Agent == o.Agent })
		if was < 0 {
			return fmt.Errorf("%w: session %s would end with it", ErrMoved, nameOf(&o))
		}
	}
	return nil
}

// asStopError returns an error of a plan that is made again as one of the session: what has changed meanwhile.
func asStopError(err error) error {
	if errors.Is(err, ErrNotRunning) || errors.Is(err, ErrCannotStop) || errors.Is(err, ErrNoSession) || errors.Is(err, ErrMoved) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCannotStop, err)
}

// readCommands reads the command lines of the processes that the plan ends.
func (p *StopPlan) readCommands(table proc.Lister) {
	p.Commands = map[proc.Identity]string{}
	for _, process := range append([]proc.Process{p.Process}, p.Tree...) {
		if line, err := table.Args(process.Identity); err == nil {
			p.Commands[process.Identity] = present.CommandLine(line)
		}
	}
}
