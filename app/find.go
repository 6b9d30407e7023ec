package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"rollcall/adapters"
)

// ErrNoSession reports that no adapter that answered lists the session.
var ErrNoSession = errors.New("no such session")

// ErrNoAnswer reports that an agent could not be asked about a session.
var ErrNoAnswer = errors.New("its agent did not answer")

// AmbiguousError reports that a prefix fits several sessions.
type AmbiguousError struct {
	Prefix  string
	Matches []Session // in the order of Sort
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits %d sessions", e.Prefix, len(e.Matches))
}

// Find asks every adapter for the session with this id, or for the only session whose id
// has this prefix; an id that is equal has priority. Find finds sessions of any age,
// regardless of Config.Since. Its errors are ErrNoSession (some adapter may have failed:
// see the snapshot), *AmbiguousError, and ctx's. The snapshot is the one with the
// session; c's own does not change.
func (c *Core) Find(ctx context.Context, prefix string) (Session, *Snapshot, error) {
	cfg := c.cfg
	cfg.Since, cfg.Watch = All, nil
	whole := New(cfg)
	snap := whole.askExact(ctx, prefix)
	if s, err := findExact(snap, prefix); err == nil || ctx.Err() != nil {
		return s, snap, ctx.Err()
	}
	snap = whole.askNamed(ctx, prefix)
	if ctx.Err() != nil {
		return Session{}, snap, ctx.Err()
	}
	s, err := findPrefix(snap, prefix)
	if err != nil || !c.cfg.Totals {
		return s, snap, err
	}
	exact := whole.RefreshOne(ctx, s.Agent, s.ID)
	if again, err := findExact(exact, s.ID); err == nil {
		s = again
	}
	return s, snap, ctx.Err()
}

// askExact asks every adapter for the session with exactly this id. It returns when it was found, or when each adapter has
// answered or failed.
func (c *Core) askExact(ctx context.Context, id string) *Snapshot {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{}, len(c.sources))
	for _, s := range c.sources {
		go func() {
			c.ask(ctx, s, question{ids: []string{id}, limit: c.cfg.Limit})
			done <- struct{}{}
		}()
	}
	for range c.sources {
		<-done
		if _, err := findExact(c.Snapshot(), id); err == nil {
			cancel() // the other questions return at once
		}
	}
	return c.Snapshot()
}

// askNamed asks every adapter for the sessions whose ids begin with prefix. It asks an
// adapter that can't list ids for all its sessions.
func (c *Core) askNamed(ctx context.Context, prefix string) *Snapshot {
	var group sync.WaitGroup
	for _, s := range c.sources {
		group.Go(func() {
			if adapters.MayBeProcessID(prefix) {
				c.ask(ctx, s, question{ids: []string{prefix}, live: true, rough: true, limit: c.cfg.Limit})
			}
			q := question{rough: true, limit: c.cfg.Limit}
			if n, ok := s.adapter.(adapters.Namer); ok {
				ids, err := within(ctx, c.cfg.Limit, func(ctx context.Context) ([]string, error) { return n.Named(ctx, prefix) })
				ids = c.addNamed(s.adapter.Name(), ids, prefix)
				if err == nil && len(ids) == 0 {
					return
				}
				if err == nil {
					q.ids = ids
				}
			}
			c.ask(ctx, s, q)
		})
	}
	group.Wait()
	return c.Snapshot()
}

// Current asks the agent for a session as it is now. It does not change the core's snapshot.
// Its errors wrap ErrNoSession and ErrNoAnswer, or are ctx's.
func (c *Core) Current(ctx context.Context, agent adapters.Name, id string) (Session, error) {
	if c.source(agent) == nil {
		return Session{}, fmt.Errorf("%w: no agent %q", ErrNoSession, agent)
	}
	snap := c.askApart(ctx, agent, All, Once{IDs: []string{id}})
	if err := ctx.Err(); err != nil {
		return Session{}, err
	}
	now, err := findExact(snap, id)
	if err == nil {
		return now, nil
	}
	if h := snap.Health(agent); h.State == Failed {
		return Session{}, fmt.Errorf("%w: %s", ErrNoAnswer, h.Problems[0])
	}
	return Session{}, err
}

func findExact(snap *Snapshot, id string) (Session, error) {
	return findOne(snap, id, func(s *Session) bool { return s.ID == id })
}

func findPrefix(snap *Snapshot, prefix string) (Session, error) {
	if s, err := findExact(snap, prefix); err == nil {
		return s, nil
	}
	return findOne(snap, prefix, func(s *Session) bool { return strings.HasPrefix(s.ID, prefix) })
}

func findOne(snap *Snapshot, prefix string, fits func(*Session) bool) (Session, error) {
	var matches []Session
	for s := range snap.All() {
		if fits(s) {
			matches = append(matches, *s)
		}
	}
	switch len(matches) {
	case 0:
		return Session{}, ErrNoSession
	case 1:
		return matches[0], nil
	}
	return Session{}, &AmbiguousError{Prefix: prefix, Matches: matches}
}
