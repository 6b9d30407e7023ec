package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// namer is an agent that can name its sessions without reading them.
type namer struct {
	*agent
	err   error
	named atomic.Int32
	blind bool // it knows processes without a session only among all live ones
}

func (a *namer) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	roll, err := a.agent.Discover(ctx, q)
	if a.blind && q.IDs != nil {
		roll.Sessions = slices.DeleteFunc(roll.Sessions, func(s adapters.Session) bool { return s.IsProcess() })
	}
	return roll, err
}

func (a *namer) Named(_ context.Context, prefix string) ([]string, error) {
	a.named.Add(1)
	var ids []string
	for _, s := range a.sessions {
		if a.blind && s.IsProcess() {
			continue
		}
		if strings.HasPrefix(s.ID, prefix) {
			ids = append(ids, s.ID)
		}
	}
	return ids, a.err
}

// An agent that can name its sessions is asked for those alone; when the names
// are not all there, for everything.
func TestFindByName(t *testing.T) {
	for _, broken := range []bool{false, true} {
		a := &namer{agent: &agent{name: agentname.ClaudeCode}}
		b := &agent{name: agentname.Codex}
		a.says(nil, on("abc-1", adapters.Idle, 0), on("abd-2", adapters.Idle, 0))
		b.says(nil, on("xyz-3", adapters.Idle, 0))
		if broken {
			a.err = errors.New("a folder can't be read")
		}
		c := New(Config{Adapters: []adapters.Adapter{a, b}})
		if s, _, err := c.Find(t.Context(), "abc"); err != nil || s.ID != "abc-1" {
			t.Errorf("found %q, %v", s.ID, err)
		}
		whole := slices.ContainsFunc(a.questions(), func(q adapters.Query) bool { return q.IDs == nil })
		if a.named.Load() != 1 || whole != broken {
			t.Errorf("named %d times, asked %+v", a.named.Load(), a.questions())
		}
		if s, _, err := c.Find(t.Context(), "xy"); err != nil || s.ID != "xyz-3" {
			t.Errorf("found %q, %v", s.ID, err)
		}
		var many *AmbiguousError
		if _, _, err := c.Find(t.Context(), "ab"); !errors.As(err, &many) || len(many.Matches) != 2 {
			t.Errorf("ambiguous: %v", err)
		}
		if _, _, err := c.Find(t.Context(), "nobody"); !errors.Is(err, ErrNoSession) {
			t.Errorf("nobody: %v", err)
		}
	}
}

// A process without a session is in no agent's storage, so its id is looked for
// among the live sessions, whatever part of it the user typed.
func TestFindProcess(t *testing.T) {
	row := adapters.ProcessSession(agentname.ClaudeCode, proc.Process{Identity: pid(4711)}, "/w")
	a := &namer{agent: &agent{name: agentname.ClaudeCode}}
	a.says(nil, on("abc-1", adapters.Idle, 0), row)
	a.blind = true
	c := New(Config{Adapters: []adapters.Adapter{a}})
	for _, prefix := range []string{row.ID, "process-4711", "process-", "proc"} {
		if s, _, err := c.Find(t.Context(), prefix); err != nil || s.ID != row.ID {
			t.Errorf("%s: found %q, %v", prefix, s.ID, err)
		}
	}
	if s, _, err := c.Find(t.Context(), "ab"); err != nil || s.ID != "abc-1" {
		t.Errorf("found %q, %v", s.ID, err)
	}
	plan, err := c.currentSession(t.Context(), Session{Session: row})
	if err != nil || plan.Process != row.Process {
		t.Errorf("asked again: %+v, %v", plan, err)
	}
	if m, err := c.Peek(t.Context(), plan, 5); len(m) != 0 || err != nil {
		t.Errorf("peek: %v, %v", m, err)
	}
}
