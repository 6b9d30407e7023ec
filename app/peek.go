package app

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
)

// ErrNoPeek says that the conversations of an agent can't be shown.
var ErrNoPeek = errors.New("its conversations can't be shown")

// peeks are the questions for conversations that were left behind and still
// hang: such a session is not asked for again meanwhile. The zero value is ready.
type peeks struct {
	mu      sync.Mutex
	hanging map[peeked]time.Time // since when
}

type peeked struct {
	agent adapters.Name
	id    string
}

// Peek returns the last n messages of a session that a snapshot or Find told of,
// the oldest first, asking its adapter under the core's limit. Messages and an
// error may come together: the messages are right, the error says what is
// missing. Errors are ErrNoPeek, where the agent's adapter can't, the adapter's
// own, adapters.ErrTimeout, and ctx's. It changes no snapshot.
//
// A call that a session without a process left behind has failed, whatever the
// agent's files say: process truth wins.
func (c *Core) Peek(ctx context.Context, s Session, n int) ([]adapters.Message, error) {
	p, ok := c.adapter(s.Agent).(adapters.Peeker)
	if !ok {
		return nil, fmt.Errorf("%s: %w", s.Agent, ErrNoPeek)
	}
	key := peeked{s.Agent, s.ID}
	if since, hangs := c.peeks.since(key); hangs {
		return nil, errHanging(since)
	}
	inner, cancel := context.WithTimeout(ctx, c.cfg.Limit-c.cfg.Limit/10)
	defer cancel()
	began := time.Now()
	k := &peekCall{began: began, done: make(chan struct{})}
	go k.run(inner, p, s.Session, n, func() { c.peeks.end(key, began) })
	patience := time.NewTimer(c.cfg.Limit)
	defer patience.Stop()
	select {
	case <-k.done:
	case <-ctx.Done():
		return nil, c.peeks.leave(key, k, ctx.Err())
	case <-patience.C:
		return nil, c.peeks.leave(key, k, fmt.Errorf("%w in %s", adapters.ErrTimeout, seconds(c.cfg.Limit)))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return settled(&s, k.messages), k.err
}

// young is by how much a call may be newer than a stopped session and still be
// one that it left behind; a newer one is of a process that took it up again.
const young = 10 * time.Second

func settled(s *Session, messages []adapters.Message) []adapters.Message {
	if s.Status != adapters.Stopped {
		return messages
	}
	messages = slices.Clone(messages) // the adapter may keep its own
	for i := range messages {
		if m := &messages[i]; m.State == adapters.ToolRunning && !m.At.After(s.LastActivityAt.Add(young)) {
			m.State = adapters.ToolFailed
		}
	}
	return messages
}

// adapter is the adapter with this name, nil if there is none.
func (c *Core) adapter(name adapters.Name) adapters.Adapter {
	for _, s := range c.sources {
		if s.adapter.Name() == name {
			return s.adapter
		}
	}
	return nil
}

// peekCall is one call of Peek, in a goroutine that can be left behind.
type peekCall struct {
	began time.Time
	done  chan struct{}

	// Valid when done is closed.
	messages []adapters.Message
	err      error
}

func (k *peekCall) run(ctx context.Context, p adapters.Peeker, s adapters.Session, n int, late func()) {
	defer late()
	defer close(k.done)
	defer func() {
		if r := recover(); r != nil {
			k.messages, k.err = nil, &crash{value: r, stack: debug.Stack()}
		}
	}()
	k.messages, k.err = p.Peek(ctx, s, n)
}

func (p *peeks) since(k peeked) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.hanging[k]
	return t, ok
}

// leave leaves a call behind, unless it is done by now.
func (p *peeks) leave(k peeked, call *peekCall, why error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-call.done:
	default:
		if p.hanging == nil {
			p.hanging = map[peeked]time.Time{}
		}
		p.hanging[k] = call.began
	}
	return why
}

func (p *peeks) end(k peeked, began time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hanging[k].Equal(began) {
		delete(p.hanging, k)
	}
}
