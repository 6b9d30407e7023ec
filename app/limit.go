package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"rollcall/adapters"
	"rollcall/app/places"
	"rollcall/bounded"
)

const (
	// defaultLimit is the time that an adapter may take for one answer, unless Config.Limit sets another one.
	defaultLimit = 5 * time.Second
	// exitLimit limits the question after the end of a process: a notification waits
	// for the answer.
	exitLimit = time.Second
)

// call is one call of an adapter. It runs in its own goroutine, for which the caller need not wait, since no context ends a call
// into a file system that does not answer.
type call[T any] struct {
	began     time.Time
	done      chan struct{}
	over      chan struct{} // closed when what follows the answer is done, too
	abandoned atomic.Bool

	// Valid when done is closed.
	value T
	err   error
}

// startCall calls ask in a goroutine, and after, which may be nil, once it has returned. A panic of ask becomes the error
// of the call.
func startCall[T any](ask func() (T, error), after func(*call[T])) *call[T] {
	k := &call[T]{began: time.Now(), done: make(chan struct{}), over: make(chan struct{})}
	go func() {
		defer close(k.over)
		if after != nil {
			defer after(k)
		}
		defer close(k.done)
		defer recovered(&k.err)
		k.value, k.err = ask()
	}()
	return k
}

// hasReturned reports whether the call is over.
func (k *call[T]) hasReturned() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// await waits for the call until the deadline, or for at most exitLimit after urgent delivers a value. It returns the error
// of ctx, or that of timeout after the deadline.
func (k *call[T]) await(ctx context.Context, deadline time.Time, urgent <-chan struct{}, timeout func() error) error {
	t := time.NewTimer(time.Until(deadline))
	defer t.Stop()
	for {
		select {
		case <-k.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-urgent:
			urgent = nil
			t.Reset(min(time.Until(deadline), exitLimit))
		case <-t.C:
			k.abandoned.Store(true)
			if k.hasReturned() {
				return nil
			}
			return timeout()
		}
	}
}

// afterwards is the work of a call for which its answer does not wait. It is safe for concurrent use.
type afterwards struct {
	mu    sync.Mutex
	over  bool
	tasks []func()
}

// add implements adapters.Query.Later. A goroutine that an adapter left behind may call it after the answer.
func (a *afterwards) add(task func()) {
	a.mu.Lock()
	wait := !a.over
	if wait {
		a.tasks = append(a.tasks, task)
	}
	a.mu.Unlock()
	if !wait {
		task()
	}
}

func (a *afterwards) do() {
	a.mu.Lock()
	a.over = true
	tasks := a.tasks
	a.mu.Unlock()
	for _, task := range tasks {
		_, _ = guarded(func() (struct{}, error) { task(); return struct{}{}, nil }) // the answer was given: nothing depends on it
	}
}

// discovery is an adapter's answer to a query.
type discovery struct {
	roll   adapters.Roll
	places *watchList
}

// awaitHanging waits for an earlier call that has not returned, for the rest of its limit and no longer than patience. An
// adapter that still hangs after that is not asked again.
func (s *source) awaitHanging(ctx context.Context, limit, patience time.Duration) error {
	if s.last == nil || s.last.hasReturned() {
		return nil
	}
	deadline := s.last.began.Add(limit)
	if most := time.Now().Add(patience); most.Before(deadline) {
		deadline = most
	}
	return s.last.await(ctx, deadline, s.urgent, func() error { return errHanging(s.last.began) })
}

// call calls the adapter, and stops waiting for the call at the deadline. The adapter's own deadline is a little earlier, so
// that it can return a part of the answer.
func (c *Core) call(ctx context.Context, s *source, q adapters.Query, limit time.Duration, deadline time.Time) answer {
	inner, cancel := context.WithDeadline(ctx, deadline.Add(-limit/10))
	watching := c.isRunning()
	var later afterwards
	q.Later = later.add
	k := startCall(func() (d discovery, err error) {
		d.roll, err = s.adapter.Discover(inner, q)
		if w, ok := s.adapter.(adapters.Watcher); ok && watching {
			d.places = &watchList{watch: w.WatchPaths(), lookedIn: d.roll.LookedIn}
			d.places.missing = places.Missing(d.places.all())
		}
		return d, err
	}, func(k *call[discovery]) {
		cancel()
		if k.abandoned.Load() {
			c.requestRefresh(s) // the adapter can be asked again
		}
		later.do()
	})
	s.last = k
	a := answer{Answer: Answer{IDs: q.IDs}}
	a.Err = k.await(ctx, deadline, s.urgent, func() error { return errTimeout(time.Since(k.began).Round(100 * time.Millisecond)) })
	if a.Err == nil {
		a.roll = k.value.roll
		a.Sessions = k.value.roll.Sessions
		a.Err = k.err
		a.places = k.value.places
		a.Remotes = a.roll.Remotes
		a.roll.Sessions, k.value = nil, discovery{} // k is kept until the next call
	}
	a.At = time.Now()
	return a
}

// errTimeout returns the error of an adapter that did not answer in that time.
func errTimeout(d time.Duration) error {
	return fmt.Errorf("%w in %s", adapters.ErrTimeout, seconds(d))
}

// errHanging returns the error of an adapter that is not asked because an earlier call
// still hangs.
func errHanging(began time.Time) error {
	return fmt.Errorf("%w to the question of %s; it is asked again once it answers", adapters.ErrTimeout, began.Format(time.TimeOnly))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// guarded calls an adapter, and returns its panic as a *crash.
func guarded[T any](ask func() (T, error)) (value T, err error) {
	defer recovered(&err)
	return ask()
}

// recovered sets err to a *crash if the function that defers the call panicked.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = &crash{value: p, stack: debug.Stack()}
	}
}

// crash is the error of an adapter that panicked.
type crash struct {
	value any
	stack []byte
}

// LogValue implements slog.LogValuer: it adds the stack to logs.
func (e *crash) LogValue() slog.Value { return slog.StringValue(e.Error() + "\n" + string(e.stack)) }

func (e *crash) Error() string {
	return fmt.Sprintf("internal error: %v (a bug in Rollcall: please report it)", e.value)
}

// within calls an adapter and returns its answer, or its panic as an error. It waits no longer than limit.
func within[T any](ctx context.Context, limit time.Duration, ask func(context.Context) (T, error)) (T, error) {
	inner, cancel := context.WithTimeout(ctx, limit-limit/10)
	value, err := bounded.Within(ctx, limit, func() (T, error) {
		defer cancel()
		return guarded(func() (T, error) { return ask(inner) })
	})
	if errors.Is(err, bounded.ErrNoAnswer) {
		err = errTimeout(limit)
	}
	return value, err
}
