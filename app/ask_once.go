package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
)

// Once contains what Ask asks, and whom it tells.
type Once struct {
	IDs     []string        // the sessions that the question is about; nil: all
	LeftOut []adapters.Name // the agents whose sessions are not shown: see Core.LeaveOut
	// Last reports that the process asks nothing more, so that adapters keep nothing to answer faster.
	Last bool
	// Progress is called before the first answer and after each with what Snapshot.Reading returns, one call at a time; nil: it is not.
	Progress func(agents []adapters.Name, sessions int)
}

// Ask asks the adapters of cfg once, and does not live on: it watches nothing and has no events. It returns once each adapter has answered
// or failed, or ctx is done.
//
// When it lists the sessions of all time for the last time, only two adapters read at once: an adapter needs more memory to read ten
// thousand sessions than the sessions take afterwards. That costs little time, since most adapters use all processors; two read, and not
// one, since databases are read by one goroutine. An adapter waits for the others no longer than its own limit, since one of them may hang.
func Ask(ctx context.Context, cfg Config, o Once) *Snapshot {
	c := New(cfg)
	c.LeaveOut(o.LeftOut)
	turns := make(chan struct{}, len(c.sources)+1)
	if o.Last && cfg.Since == All {
		turns = make(chan struct{}, 2)
	}
	var group sync.WaitGroup
	var told sync.Mutex
	progress := func() {
		if o.Progress != nil {
			told.Lock()
			defer told.Unlock()
			o.Progress(reading(c.health()))
		}
	}
	progress()
	for _, s := range c.sources {
		group.Go(func() {
			leave := enter(ctx, turns, c.cfg.Limit)
			c.ask(ctx, s, question{ids: o.IDs, last: o.Last, limit: c.cfg.Limit})
			s.awaitAfterwards(ctx)
			leave()
			progress()
		})
	}
	group.Wait()
	return c.Snapshot()
}

// awaitAfterwards waits for what the adapter does after its last answer: the process may end next. An adapter that hangs is not waited for.
func (s *source) awaitAfterwards(ctx context.Context) {
	if s.last == nil || !s.last.hasReturned() {
		return
	}
	select {
	case <-s.last.over:
	case <-ctx.Done():
	}
}

// askApart asks one adapter without a change of the core's snapshot; all of them for an empty name.
func (c *Core) askApart(ctx context.Context, agent adapters.Name, since time.Duration, o Once) *Snapshot {
	cfg := c.cfg
	cfg.Adapters = slices.DeleteFunc(slices.Clone(cfg.Adapters), func(a adapters.Adapter) bool { return agent != "" && a.Name() != agent })
	cfg.Since = since
	cfg.Watch = nil
	cfg.Totals = false
	cfg.Usage = false
	return Ask(ctx, cfg, o)
}

// enter waits until one of few turns is free, no longer than patience. The caller calls leave afterwards.
func enter(ctx context.Context, turns chan struct{}, patience time.Duration) (leave func()) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case turns <- struct{}{}:
		return func() { <-turns }
	case <-timer.C:
	case <-ctx.Done():
	}
	return func() {}
}
