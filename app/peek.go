package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
)

// ErrNoPeek reports that Rollcall can't show the conversations of an agent.
var ErrNoPeek = errors.New("its conversations can't be shown")

// hangingPeek returns a call of Peek for a session that has not returned after its limit, or nil. The session is not asked
// for again until that call returns.
func (c *Core) hangingPeek(key SessionKey) *call[[]adapters.Message] {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.peeks, func(_ SessionKey, k *call[[]adapters.Message]) bool { return k.hasReturned() })
	return c.peeks[key]
}

// Peek returns the last n messages of a session of a snapshot or of Find, the oldest first, asking its adapter under the
// core's limit. Messages and an error may come together: the messages are right, the error describes what is missing. Errors
// are ErrNoPeek, where the agent's adapter can't peek, the adapter's own, adapters.ErrTimeout, and ctx's. Peek changes no
// snapshot.
//
// A process without a session (IsProcess) has no messages, and no error. For a launch that its agent does not list, Peek
// returns the end of its output.
//
// A tool call that a session without a process left open has failed, whatever the agent's files contain: process truth wins.
func (c *Core) Peek(ctx context.Context, s Session, n int) ([]adapters.Message, error) {
	if s.IsProcess() {
		return nil, ctx.Err()
	}
	switch {
	case s.Machine != "" && c.cfg.Machines == nil:
		return nil, ErrMachine
	case s.Machine != "":
		return c.cfg.Machines.Peek(ctx, s, n)
	}
	if s.Launch != nil && s.Launch.Unlisted && s.Launch.Log != "" && c.cfg.Launches != nil {
		return c.peekOutput(&s)
	}
	p, ok := c.Adapter(s.Agent).(adapters.Peeker)
	if !ok {
		return nil, fmt.Errorf("%s: %w", s.Agent, ErrNoPeek)
	}
	key := s.Key()
	if k := c.hangingPeek(key); k != nil {
		return nil, errHanging(k.began)
	}
	inner, cancel := context.WithTimeout(ctx, c.cfg.Limit-c.cfg.Limit/10)
	defer cancel()
	k := startCall(func() ([]adapters.Message, error) { return p.Peek(inner, s.Session, n) }, nil)
	err := k.await(ctx, k.began.Add(c.cfg.Limit), nil, func() error { return errTimeout(c.cfg.Limit) })
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.peeks[key] = k
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
