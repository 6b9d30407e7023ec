package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// peekingAgent is an agent whose conversations can be shown.
type peekingAgent struct {
	agent
	peek func(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error)
}

func (a *peekingAgent) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return a.peek(ctx, s, n)
}

func newPeekingAgent(peek func(context.Context, adapters.Session, int) ([]adapters.Message, error)) *peekingAgent {
	return &peekingAgent{agent: agent{name: agentname.ClaudeCode}, peek: peek}
}

func TestPeek(t *testing.T) {
	broken := adapters.Unreadable("/x", os.ErrPermission)
	a := newPeekingAgent(func(_ context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
		switch s.ID {
		case "partly":
			return []adapters.Message{{Key: "1"}}, broken
		case "crash":
			panic("boom")
		}
		return []adapters.Message{{Key: s.ID, Text: fmt.Sprint(n)}}, nil
	})
	c := New(Config{Adapters: []adapters.Adapter{a, &agent{name: agentname.Codex}}})
	m, err := c.Peek(t.Context(), Session{Session: on("s", adapters.Idle, 0)}, 7)
	if err != nil || len(m) != 1 || m[0].Key != "s" || m[0].Text != "7" {
		t.Errorf("%v, %v", m, err)
	}
	m, err = c.Peek(t.Context(), Session{Session: on("partly", adapters.Idle, 0)}, 7)
	if len(m) != 1 || !errors.Is(err, adapters.ErrUnreadable) {
		t.Errorf("%v, %v: want both", m, err)
	}
	var crashed *crash
	if _, err := c.Peek(t.Context(), Session{Session: on("crash", adapters.Idle, 0)}, 7); !errors.As(err, &crashed) {
		t.Errorf("a panic gave %v", err)
	}
	for _, name := range []adapters.Name{agentname.Codex, agentname.Pi} {
		s := Session{Session: adapters.Session{ID: "s", Agent: name}}
		if _, err := c.Peek(t.Context(), s, 7); !errors.Is(err, ErrNoPeek) {
			t.Errorf("%s can't, and gave %v", name, err)
		}
	}
}

// What a session without a process left behind doesn't run.
func TestPeekOfADeadSession(t *testing.T) {
	last := time.Now()
	a := newPeekingAgent(func(context.Context, adapters.Session, int) ([]adapters.Message, error) {
		call := func(key string, state adapters.ToolState, at time.Time) adapters.Message {
			return adapters.Message{Key: key, Role: adapters.FromTool, Tool: "t", State: state, At: at}
		}
		return []adapters.Message{call("1", adapters.ToolDone, last), call("2", adapters.ToolRunning, last), call("3", adapters.ToolRunning, time.Time{}),
			call("4", adapters.ToolRunning, last.Add(time.Minute))}, nil
	})
	c := New(Config{Adapters: []adapters.Adapter{a}})
	for status, want := range map[adapters.Status]string{
		adapters.Stopped: "done failed failed running", adapters.Working: "done running running running", adapters.Unknown: "done running running running",
	} {
		s := Session{Session: on("s", status, 0)}
		s.LastActivityAt = last
		m := must.Get(c.Peek(t.Context(), s, 9))(t)
		got := ""
		for _, m := range m {
			got += " " + string(m.State)
		}
		if got[1:] != want {
			t.Errorf("%s: %s, want %s", status, got, want)
		}
	}
}

// An adapter that hangs is left behind, and not asked again while it does; other
// sessions are.
func TestPeekHangs(t *testing.T) {
	release := make(chan struct{})
	var calls atomic.Int32
	a := newPeekingAgent(func(_ context.Context, s adapters.Session, _ int) ([]adapters.Message, error) {
		if s.ID == "stuck" && calls.Add(1) == 1 {
			<-release
		}
		return nil, nil
	})
	c := New(Config{Adapters: []adapters.Adapter{a}, Limit: 2 * moment})
	stuck, other := Session{Session: on("stuck", adapters.Idle, 0)}, Session{Session: on("other", adapters.Idle, 0)}
	for range 3 {
		if _, err := c.Peek(t.Context(), stuck, 1); !errors.Is(err, adapters.ErrTimeout) {
			t.Errorf("a hanging adapter gave %v", err)
		}
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	if _, err := c.Peek(t.Context(), other, 1); err != nil {
		t.Errorf("another session: %v", err)
	}
	close(release)
	eventually.Nil(t, "another call", func() error {
		_, err := c.Peek(t.Context(), stuck, 1)
		return err
	})
}

func TestPeekIsCancelled(t *testing.T) {
	a := newPeekingAgent(func(ctx context.Context, _ adapters.Session, _ int) ([]adapters.Message, error) {
		<-ctx.Done()
		return []adapters.Message{{Key: "late"}}, nil
	})
	c := New(Config{Adapters: []adapters.Adapter{a}, Limit: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), moment)
	defer cancel()
	if m, err := c.Peek(ctx, Session{Session: on("s", adapters.Idle, 0)}, 1); !errors.Is(err, context.DeadlineExceeded) || m != nil {
		t.Errorf("%v, %v", m, err)
	}
}

// follow follows s and counts.
func follow(t *testing.T, c *Core, s adapters.Session) func(atLeast int32) {
	t.Helper()
	var told atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Follow(ctx, Session{Session: s}, func() { told.Add(1) })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return func(n int32) {
		t.Helper()
		eventually.True(t, fmt.Sprintf("%d changes to be told", n), func() bool { return told.Load() >= n })
		time.Sleep(followBurst + followQuiet)
		if got := told.Load(); got > n {
			t.Errorf("told %d times, want %d", got, n)
		}
		told.Store(n)
	}
}

func TestFollowFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	write := func(name, text string) {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
			f.Close()
		}
		must.Do(t, err)
	}
	write("s.jsonl", "1\n")
	c := New(Config{Adapters: []adapters.Adapter{&agent{name: agentname.ClaudeCode}}})
	s := on("s", adapters.Working, 0)
	s.Files = []string{path}
	told := follow(t, c, s)
	told(1) // it watches
	for range 5 {
		write("s.jsonl", "2\n")
	}
	told(2)
	write("s.jsonl-wal", "x")
	told(3)
	write("other.jsonl", "x")
	write("s.jsonl-shm", "x")
	told(3)
	write("new", "whole\n")
	must.Do(t, os.Rename(filepath.Join(dir, "new"), path))
	told(4)
	write("s.jsonl", "3\n")
	told(5)
}

// pushing is an adapter that reports changes itself.
type pushing struct {
	agent
	changed chan func()
}

func (a *pushing) Push(ctx context.Context, changed func()) {
	a.changed <- changed
	<-ctx.Done()
}

func TestFollowWithoutFiles(t *testing.T) {
	a := &pushing{agent: agent{name: agentname.ClaudeCode}, changed: make(chan func(), 1)}
	c := New(Config{Adapters: []adapters.Adapter{a}})
	told := follow(t, c, on("s", adapters.Working, 0))
	told(1)
	(<-a.changed)()
	told(2)
	told(3) // nobody told: it is said every few seconds all the same
}
