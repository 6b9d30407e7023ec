package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
)

// RefreshLive does what Refresh does in two steps. First it asks each adapter for its live sessions alone, which takes a fraction of the time where
// thousands are stored, and returns. A session that ended since the last answer is then shown as stopped, and all that had stopped before stay
// as they were shown. After a pause of restAfter it asks for all sessions, until ctx is done, and publishes these answers as they come.
//
// An adapter that has not answered yet, or whose last answer was not complete, is asked for all sessions at once, as is one whose answer about
// its live sessions is not complete.
func (c *Core) RefreshLive(ctx context.Context) *Snapshot {
	var group sync.WaitGroup
	asked := make([]bool, len(c.sources))
	for i, s := range c.sources {
		group.Go(func() {
			asked[i] = c.canAskLive(s) && c.ask(ctx, s, question{live: true, keep: true, limit: c.cfg.Limit})
			if !asked[i] && ctx.Err() == nil {
				c.await(ctx, c.join(s, false))
			}
		})
	}
	group.Wait()
	go c.askRest(ctx, asked)
	return c.Snapshot()
}

// restAfter is the time that the caller of RefreshLive has to show the live sessions, before the question about all sessions takes every processor.
const restAfter = 300 * time.Millisecond

// askRest asks the marked sources for all sessions, after restAfter.
func (c *Core) askRest(ctx context.Context, sources []bool) {
	pause := time.NewTimer(restAfter)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return
	}
	for i, s := range c.sources {
		if sources[i] {
			go c.await(ctx, c.join(s, false))
		}
	}
}

// canAskLive reports whether the stopped sessions of s are known.
func (c *Core) canAskLive(s *source) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.health.State == OK
}

// keepStopped adds to an answer about live sessions those rows of stopped sessions that it does not list. Rows of launches that the agent
// does not list are left out: Core.addLaunches adds them.
func (a *answer) keepStopped(rows []Session) {
	listed := a.listed()
	a.Sessions = slices.Clip(a.Sessions)
	for i := range rows {
		if x := &rows[i]; x.Status == adapters.Stopped && !listed[x.ID] && (x.Launch == nil || !x.Launch.Unlisted) {
			a.Sessions = append(a.Sessions, x.Session)
		}
	}
}
