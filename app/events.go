package app

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is what Next returns after Close, once everything before it was
// taken.
var ErrClosed = errors.New("subscription is closed")

// Events is one subscription: a queue without a bound, so that a slow reader
// loses nothing and blocks nobody.
type Events struct {
	mu     sync.Mutex
	queue  []Event
	signal chan struct{} // holds a token while there may be something to take
	closed bool
	leave  func()
}

// Events begins a subscription: every event from now on is delivered to it. Take
// it before Run to miss none. It holds memory until it is closed.
func (c *Core) Events() *Events {
	e := &Events{signal: make(chan struct{}, 1)}
	e.leave = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.listeners, e)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners[e] = struct{}{}
	return e
}

// Next returns the oldest event that was not taken yet, and waits for one. Its
// error is ctx's, or ErrClosed. One goroutine may call it at a time.
func (e *Events) Next(ctx context.Context) (Event, error) {
	for {
		if ev, ok, err := e.take(); ok || err != nil {
			return ev, err
		}
		select {
		case <-ctx.Done():
			return Event{}, ctx.Err()
		case <-e.signal:
		}
	}
}

func (e *Events) take() (Event, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) == 0 {
		if e.closed {
			return Event{}, false, ErrClosed
		}
		return Event{}, false, nil
	}
	ev := e.queue[0]
	e.queue[0] = Event{}
	if e.queue = e.queue[1:]; len(e.queue) == 0 {
		e.queue = nil
	}
	return ev, true, nil
}

// Close ends the subscription; what is queued can still be taken. It may be
// called more than once and from any goroutine.
func (e *Events) Close() {
	e.leave()
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.poke()
}

func (e *Events) put(evs []Event) {
	e.mu.Lock()
	if !e.closed {
		e.queue = append(e.queue, evs...)
	}
	e.mu.Unlock()
	e.poke()
}

func (e *Events) poke() {
	select {
	case e.signal <- struct{}{}:
	default:
	}
}
