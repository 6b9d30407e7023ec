package app

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"rollcall/adapters"
)

// answer is what came of a question.
type answer struct {
	Answer
	roll    adapters.Roll
	elapsed time.Duration
	places  *places
	added   int // of Sessions, that the agent did not list
	launch  func(*adapters.Session) *Launch
}

// call is one call of an adapter, in a goroutine that can be left behind.
type call struct {
	began     time.Time
	done      chan struct{}
	abandoned atomic.Bool

	// Valid when done is closed.
	roll   adapters.Roll
	err    error
	places *places
}

// awaitHanging gives a call that was left behind the rest of its limit, and no
// more than patience. An adapter that hangs even then is not asked again.
func (s *source) awaitHanging(ctx context.Context, limit, patience time.Duration) error {
	if s.last == nil {
		return nil
	}
	select {
	case <-s.last.done:
		return nil
	default:
	}
	t := time.NewTimer(min(limit-time.Since(s.last.began), patience))
	defer t.Stop()
	hurry := s.hurry
	for {
		select {
		case <-s.last.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return errHanging(s.last.began)
		case <-hurry:
			hurry = nil
			t.Reset(min(limit-time.Since(s.last.began), exitLimit))
		}
	}
}

// call calls the adapter and leaves it behind at the deadline. The adapter's own
// deadline is a little earlier, so that it can hand in what it has.
func (c *Core) call(ctx context.Context, s *source, q adapters.Query, limit time.Duration, deadline time.Time) answer {
	k := &call{began: time.Now(), done: make(chan struct{})}
	s.last = k
	inner, cancel := context.WithDeadline(ctx, deadline.Add(-limit/10))
	watching := c.isRunning()
	go func() {
		defer cancel()
		k.run(inner, s.adapter, q, watching)
		if k.abandoned.Load() {
			c.touch(s) // it can be asked again
		}
	}()
	a := answer{Answer: Answer{IDs: q.IDs}}
	if err := k.await(ctx, deadline, s.hurry); err != nil {
		a.Err = err
	} else {
		a.roll, a.Sessions, a.Err, a.places = k.roll, k.roll.Sessions, k.err, k.places
	}
	a.At = time.Now()
	return a
}

func (k *call) await(ctx context.Context, deadline time.Time, hurry chan struct{}) error {
	t := time.NewTimer(time.Until(deadline))
	defer t.Stop()
	for {
		select {
		case <-k.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-hurry:
			hurry = nil
			t.Reset(min(time.Until(deadline), exitLimit))
		case <-t.C:
			k.abandoned.Store(true)
			select {
			case <-k.done:
				return nil
			default:
			}
			took := time.Since(k.began).Round(100 * time.Millisecond)
			return fmt.Errorf("%w in %s", adapters.ErrTimeout, seconds(took))
		}
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

func (k *call) run(ctx context.Context, a adapters.Adapter, q adapters.Query, watching bool) {
	defer close(k.done)
	defer func() {
		if p := recover(); p != nil {
			k.roll, k.places = adapters.Roll{}, nil
			k.err = &crash{value: p, stack: debug.Stack()}
		}
	}()
	k.roll, k.err = a.Discover(ctx, q)
	if w, ok := a.(adapters.Watcher); ok && watching {
		k.places = &places{watch: w.WatchPaths(), lookedIn: k.roll.LookedIn}
	}
}

// crash is a panic in an adapter: it fails, the others go on.
type crash struct {
	value any
	stack []byte
}

func (e *crash) Error() string {
	return fmt.Sprintf("internal error: %v (a mistake in Rollcall: please report it)", e.value)
}

// add merges the answer to a second question, about single sessions, into a.
func (a *answer) add(b answer) {
	again := make(map[string]bool, len(b.Sessions)+len(b.IDs))
	for i := range b.Sessions {
		again[b.Sessions[i].ID] = true
	}
	if b.Err == nil {
		for _, id := range b.IDs { // asked for and not listed: no longer there
			again[id] = true
		}
	}
	a.Sessions = slices.DeleteFunc(slices.Clone(a.Sessions), func(s adapters.Session) bool { return again[s.ID] })
	a.Sessions = append(a.Sessions, b.Sessions...)
	a.Err, a.At = joinErrors(a.Err, b.Err), b.At
	if a.IDs != nil {
		a.IDs = append(slices.Clone(a.IDs), b.IDs...)
	}
}
