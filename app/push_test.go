package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// pushingAgent is an agent that reports changes itself.
type pushingAgent struct {
	agent
	tell    chan struct{}
	pushing atomic.Int32
}

func (a *pushingAgent) Push(ctx context.Context, changed func()) {
	a.pushing.Add(1)
	defer a.pushing.Add(-1)
	for {
		select {
		case <-a.tell:
			changed()
		case <-ctx.Done():
			return
		}
	}
}

// What an agent reports is looked at, without a folder to watch, and nobody
// listens once Run is over.
func TestPushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &pushingAgent{agent: agent{name: agentname.OpenClaw}, tell: make(chan struct{})}
		remote := changed(on("a", adapters.Idle, 0), func(s *adapters.Session) { s.Agent, s.Remote = agentname.OpenClaw, "gateway" })
		a.says(nil, remote)
		c := New(Config{Adapters: []adapters.Adapter{a}})
		events := listen(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		synctest.Wait()
		if n := a.pushing.Load(); n != 1 {
			t.Fatalf("%d listen, want 1", n)
		}
		remote.Status = adapters.Working
		a.says(nil, remote)
		a.tell <- struct{}{}
		time.Sleep(maxDebounce)
		synctest.Wait()
		if got := c.Snapshot().Sessions()[0].Status; got != adapters.Working {
			t.Errorf("status %s, want working", got)
		}
		if evs := events.all(); len(evs) != 1 || evs[0].Kind != Changed {
			t.Errorf("events %v, want one change", evs)
		}
		cancel()
		must.Do(t, <-ended)
		if n := a.pushing.Load(); n != 0 {
			t.Errorf("%d still listen after Run", n)
		}
	})
}

// A source that failed is asked again by itself, with growing pauses, until it
// answers; then nothing runs any more.
func TestFailedIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{name: agentname.Codex}
		a.says(adapters.Unreadable("/x", errors.New("busy")))
		c := New(Config{Adapters: []adapters.Adapter{a}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		// 5, 10, 20, 40, 80 s, and then every 2 minutes.
		if n := len(a.questions()); n < 9 || n > 10 {
			t.Errorf("asked %d times in 10 minutes", n)
		}
		a.says(nil, on("a", adapters.Idle, 0))
		time.Sleep(retryMax)
		synctest.Wait()
		if s := c.Snapshot(); len(s.Sessions()) != 1 || s.Adapters[0].State != OK {
			t.Errorf("it answers again, and yet %+v", s)
		}
		asked := len(a.questions())
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(a.questions()); n != asked {
			t.Errorf("asked %d times more while all is well", n-asked)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// An adapter that panics while it reports changes is logged, and its sessions are still listed and followed.
func TestPushPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &crashingAgent{agent{name: agentname.ClaudeCode}}
		a.says(nil, on("a", adapters.Idle, 0))
		var log bytes.Buffer
		c := New(Config{Adapters: []adapters.Adapter{a}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		ended, followed := make(chan error, 1), make(chan struct{})
		go func() { ended <- c.Run(ctx) }()
		synctest.Wait()
		if list := c.Snapshot().Sessions(); len(list) != 1 {
			t.Errorf("sessions %v, want one", list)
		}
		changes := 0
		go func() {
			defer close(followed)
			c.Follow(ctx, Session{Session: on("a", adapters.Working, 0)}, func() { changes++ })
		}()
		time.Sleep(followStep + followBurst)
		cancel()
		<-followed
		if err := <-ended; err != nil || changes != 2 {
			t.Errorf("%d changes, %v; want 2 changes", changes, err)
		}
		text := log.String()
		if strings.Count(text, "cannot push") != 2 || !strings.Contains(text, "claude-code") || !strings.Contains(text, "search_test.go") {
			t.Errorf("the log has no panic of the agent with its place, twice: %s", text)
		}
	})
}
