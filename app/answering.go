package app

import (
	"context"
	"errors"
	"fmt"

	"rollcall/adapters"
)

// ErrNoAnswer reports that an agent could not be asked about a session.
var ErrNoAnswer = errors.New("its agent did not answer")

// Adapter returns the adapter of an agent; nil if the core has none.
func (c *Core) Adapter(name adapters.Name) adapters.Adapter { return c.adapter(name) }

// Conversant returns that through which Rollcall answers and prompts a session that it launched to be answered; nil for
// every other session.
func (c *Core) Conversant(s *Session) adapters.Conversant {
	own, ok := c.cfg.Launches.(Conversants)
	if !ok || s.Launch == nil || s.Launch.Ended {
		return nil
	}
	return own.Conversant(c.adapter(s.Agent), s)
}

// Current asks the agent for a session as it is now. It does not change the core's snapshot.
// Its errors wrap ErrNoSession and ErrNoAnswer, or are ctx's.
func (c *Core) Current(ctx context.Context, agent adapters.Name, id string) (Session, error) {
	if c.source(agent) == nil {
		return Session{}, fmt.Errorf("%w: no agent %q", ErrNoSession, agent)
	}
	snap := c.separateCore(All).RefreshOne(ctx, agent, id)
	if err := ctx.Err(); err != nil {
		return Session{}, err
	}
	now, err := findExact(snap, id)
	if err == nil {
		return now, nil
	}
	for _, h := range snap.Adapters {
		if h.Name == agent && h.State == Failed {
			return Session{}, fmt.Errorf("%w: %s", ErrNoAnswer, h.Problems[0])
		}
	}
	return Session{}, err
}

// RequestAgentRefresh asks an agent again soon, where the core runs: something was done that
// its sessions may show.
func (c *Core) RequestAgentRefresh(name adapters.Name) { c.requestAgentRefresh(name) }
