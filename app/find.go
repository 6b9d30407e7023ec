package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"rollcall/adapters"
)

// ErrNoSession says that no adapter that answered knows a session.
var ErrNoSession = errors.New("no such session")

// AmbiguousError says that a prefix fits several sessions.
type AmbiguousError struct {
	Prefix  string
	Matches []Session // in the order of Sort
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits %d sessions", e.Prefix, len(e.Matches))
}

// Find asks every adapter for the session with this id, or with the only id that
// begins so; an id that fits as a whole wins. Sessions of any age are found,
// whatever Config.Since says. Its errors are ErrNoSession (some adapter may have
// failed: see the snapshot), *AmbiguousError, and ctx's. The snapshot is the one
// that the answer was found in; c's own stays as it is.
func (c *Core) Find(ctx context.Context, prefix string) (Session, *Snapshot, error) {
	cfg := c.cfg
	cfg.Since, cfg.Watch = All, nil
	whole := New(cfg)
	snap := whole.askEach(ctx, question{ids: []string{prefix}}, prefix)
	if s, err := exactly(snap, prefix); err == nil || ctx.Err() != nil {
		return s, snap, ctx.Err()
	}
	snap = whole.askNamed(ctx, prefix)
	if ctx.Err() != nil {
		return Session{}, snap, ctx.Err()
	}
	s, err := beginning(snap, prefix)
	if err != nil || !c.cfg.Totals {
		return s, snap, err
	}
	exact := whole.RefreshOne(ctx, s.Agent, s.ID)
	if again, err := exactly(exact, s.ID); err == nil {
		s = again
	}
	return s, snap, ctx.Err()
}

// askEach puts one question to every adapter, and returns when each has settled
// or the session with this very id turned up.
func (c *Core) askEach(ctx context.Context, q question, id string) *Snapshot {
	q.limit = c.cfg.Limit
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{}, len(c.sources))
	for _, s := range c.sources {
		go func() {
			c.ask(ctx, s, q)
			done <- struct{}{}
		}()
	}
	for range c.sources {
		<-done
		if _, err := exactly(c.Snapshot(), id); err == nil {
			cancel() // the others return at once
		}
	}
	return c.Snapshot()
}

// askNamed asks every adapter for the sessions whose ids begin so; those that
// can't name them for all they have.
func (c *Core) askNamed(ctx context.Context, prefix string) *Snapshot {
	var group sync.WaitGroup
	for _, s := range c.sources {
		group.Go(func() {
			q := question{rough: true, limit: c.cfg.Limit}
			if n, ok := s.adapter.(adapters.Namer); ok {
				inner, cancel := context.WithTimeout(ctx, c.cfg.Limit)
				defer cancel()
				ids, err := n.Named(inner, prefix)
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

func exactly(snap *Snapshot, id string) (Session, error) {
	return only(snap, id, func(s *Session) bool { return s.ID == id })
}

func beginning(snap *Snapshot, prefix string) (Session, error) {
	if s, err := exactly(snap, prefix); err == nil {
		return s, nil
	}
	return only(snap, prefix, func(s *Session) bool { return strings.HasPrefix(s.ID, prefix) })
}

func only(snap *Snapshot, prefix string, fits func(*Session) bool) (Session, error) {
	var matches []Session
	for i := range snap.Sessions {
		if fits(&snap.Sessions[i]) {
			matches = append(matches, snap.Sessions[i])
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
