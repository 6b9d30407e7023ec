package app

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is returned by Next after Close, once the queue is empty.
var ErrClosed = errors.New("subscription is closed")

// Events is one subscription: a queue without a limit, so that a slow reader loses no
// event and blocks no other goroutine.
type Events struct {
	mu     sync.Mutex
	queue  []Event
	queued Wakeup // an event may be queued
	closed bool
	leave  func()
}

// Events begins a subscription: every event from now on is delivered to it. Call it
// before Run to miss none. The subscription holds memory until it is closed.
func (c *Core) Events() *Events {
	e := &Events{queued: NewWakeup()}
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

// Next returns the oldest event that was not returned yet, and waits for one. Its
// error is ctx's, or ErrClosed. Only one goroutine at a time may call it.
func (e *Events) Next(ctx context.Context) (Event, error) {
	for {
		if ev, ok, err := e.take(); ok || err != nil {
			return ev, err
		}
		select {
		case <-ctx.Done():
			return Event{}, ctx.Err()
		case <-e.queued:
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
	e.queue = e.queue[1:]
	if len(e.queue) == 0 {
		e.queue = nil
	}
	return ev, true, nil
}

// Close ends the subscription; Next still returns the queued events. Any goroutine may
// call Close, more than once.
func (e *Events) Close() {
	e.leave()
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.queued.Set()
}

func (e *Events) put(evs []Event) {
	if len(evs) == 0 {
		return
	}
	e.mu.Lock()
	if !e.closed {
		e.queue = append(e.queue, evs...)
	}
	e.mu.Unlock()
	e.queued.Set()
}

// Wakeup wakes one goroutine that receives from it. It holds one token, so it may be set before the goroutine receives.
type Wakeup chan struct{}

// NewWakeup returns a Wakeup that is not set.
func NewWakeup() Wakeup { return make(Wakeup, 1) }

// Set wakes the goroutine, now or when it receives next. It does not block.
func (s Wakeup) Set() {
	select {
	case s <- struct{}{}:
	default:
	}
}
