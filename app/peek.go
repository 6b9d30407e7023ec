package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
)

// ErrNoPeek reports that Rollcall can't show the conversations of an agent.
var ErrNoPeek = errors.New("its conversations can't be shown")

// peeks contains the calls of Peek that were left behind and still hang: such a session
// is not asked for again meanwhile. The zero value is ready.
type peeks struct {
	mu      sync.Mutex
	hanging map[peekKey]time.Time // since when
}

type peekKey struct {
	agent adapters.Name
	id    string
}

// Peek returns the last n messages of a session of a snapshot or of Find, the oldest
// first, asking its adapter under the core's limit. Messages and an error may come
// together: the messages are right, the error describes what is missing. Errors are
// ErrNoPeek, where the agent's adapter can't peek, the adapter's own,
// adapters.ErrTimeout, and ctx's. Peek changes no snapshot.
//
// A process without a session (IsProcess) has no messages, and no error. Of a launch that
// its agent does not list, Peek returns the end of its output.
//
// A tool call that a session without a process left open has failed, whatever the
// agent's files contain: process truth wins.
func (c *Core) Peek(ctx context.Context, s Session, n int) ([]adapters.Message, error) {
	if s.IsProcess() {
		return nil, ctx.Err()
	}
	if s.Machine != "" {
		return c.peekMachine(ctx, s, n)
	}
	if s.Launch != nil && s.Launch.Unlisted && s.Launch.Log != "" && c.cfg.Launches != nil {
		return c.peekOutput(&s)
	}
	p, ok := c.adapter(s.Agent).(adapters.Peeker)
	if !ok {
		return nil, fmt.Errorf("%s: %w", s.Agent, ErrNoPeek)
	}
	key := peekKey{s.Agent, s.ID}
	if since, hangs := c.peeks.since(key); hangs {
		return nil, errHanging(since)
	}
	inner, cancel := context.WithTimeout(ctx, c.cfg.Limit-c.cfg.Limit/10)
	defer cancel()
	k := startCall(func() ([]adapters.Message, error) { return p.Peek(inner, s.Session, n) },
		func(k *call[[]adapters.Message]) { c.peeks.end(key, k.began) })
	err := k.await(ctx, k.began.Add(c.cfg.Limit), nil, func() error { return errTimeout(c.cfg.Limit) })
	if err != nil {
		c.peeks.leave(key, k)
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return failLeftTools(&s, k.value), k.err
}

// peekedOutput is the number of bytes that are shown of the end of a launch's output.
const peekedOutput = 8 << 10

// peekOutput returns the end of the output of a launch that its agent does not list.
func (c *Core) peekOutput(s *Session) ([]adapters.Message, error) {
	text, err := c.cfg.Launches.Output(s.Launch.ID, peekedOutput)
	if err != nil {
		return nil, fmt.Errorf("the output of launch %s: %w", s.Launch.ID, err)
	}
	note := adapters.Message{Key: "note", Role: adapters.FromNote, Text: "the agent does not list a session of this launch; the end of its output:"}
	if strings.TrimSpace(text) == "" {
		note.Text = "the agent does not list a session of this launch, and has printed nothing"
		return []adapters.Message{note}, nil
	}
	return []adapters.Message{note, {Key: "output", Role: adapters.FromAgent, Text: text}}, nil
}

// resumeTolerance is the time by which a tool call may be newer than a stopped session and still count as left open
// by it. A newer one belongs to a process that resumed the session.
const resumeTolerance = 10 * time.Second

// failLeftTools marks the tool calls as failed that a stopped session left open.
func failLeftTools(s *Session, messages []adapters.Message) []adapters.Message {
	if s.Status != adapters.Stopped {
		return messages
	}
	messages = slices.Clone(messages) // the adapter may keep its own
	for i := range messages {
		if m := &messages[i]; m.State == adapters.ToolRunning && !m.At.After(s.LastActivityAt.Add(resumeTolerance)) {
			m.State = adapters.ToolFailed
		}
	}
	return messages
}

// since reports whether a call hangs, and since when.
func (p *peeks) since(k peekKey) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.hanging[k]
	return t, ok
}

// leave records that a call was left behind, unless it has returned by now.
func (p *peeks) leave(key peekKey, k *call[[]adapters.Message]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.hasReturned() {
		return
	}
	if p.hanging == nil {
		p.hanging = map[peekKey]time.Time{}
	}
	p.hanging[key] = k.began
}

// end records that the call of that time has returned.
func (p *peeks) end(k peekKey, began time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hanging[k].Equal(began) {
		delete(p.hanging, k)
	}
}
