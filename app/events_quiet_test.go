package app

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/proc"
)

// TestRecovery: what turns up when an unreadable place is readable again did not
// start just now.
func TestRecovery(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Idle, 1)}, func(s *scene) {
		s.agent.says(partly, on("a", adapters.Idle, 1))
		s.refresh()
		s.machine.start(pid(2))
		s.agent.says(nil, on("a", adapters.Idle, 1), on("b", adapters.Idle, 2))
		s.refresh()
		s.want()
		s.machine.start(pid(3))
		s.agent.says(partly, on("a", adapters.Idle, 1), on("b", adapters.Idle, 2), on("c", adapters.Idle, 3))
		s.refresh()
		s.want("started c idle") // a lasting problem elsewhere hides nothing
	})
}

func TestFirstScanThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{name: "a"}
		a.says(partly)
		c := New(Config{Adapters: []adapters.Adapter{a}, Table: newMachine(pid(1), pid(2))})
		l := listen(t, c)
		c.Refresh(t.Context())
		a.says(nil, on("x", adapters.Idle, 1))
		c.Refresh(t.Context())
		a.says(nil, on("x", adapters.Idle, 1), on("y", adapters.Idle, 2))
		c.Refresh(t.Context())
		synctest.Wait()
		if d := cmp.Diff([]string{"started y idle"}, l.told()); d != "" {
			t.Error(d)
		}
	})
}

// TestSubagentsEnd: a sub-agent is no end while its parent's process lives.
func TestSubagentsEnd(t *testing.T) {
	sub := changed(on("sub", adapters.Working, 1), func(s *adapters.Session) { s.Parent = "a" })
	play(t, []adapters.Session{on("a", adapters.Working, 1), sub}, func(s *scene) {
		s.agent.says(nil, on("a", adapters.Working, 1), done("sub"))
		s.refresh()
		s.want("status sub stopped/completed")
		s.agent.says(nil, done("a"), done("sub"))
		s.machine.end(pid(1))
		synctest.Wait()
		s.want("status sub stopped/completed", "ended a stopped/completed")
	})
}

func TestOnlyLiveProcessesAreWatched(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1), on("b", adapters.Working, 2), done("d")}, func(s *scene) {
		if w := s.machine.watching(); len(w) != 2 {
			s.Errorf("watched: %v", w)
		}
		s.machine.end(pid(1))
		synctest.Wait()
		if w := s.machine.watching(); !slices.Equal(w, []proc.Identity{pid(2)}) {
			s.Errorf("watched: %v", w)
		}
	})
}

// TestIdle: nothing happens while nothing changes.
func TestIdle(t *testing.T) {
	play(t, []adapters.Session{on("a", adapters.Working, 1)}, func(s *scene) {
		s.settle()
		asked := len(s.agent.questions())
		generation := s.core.Snapshot().Generation
		looked := s.machine.reads
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := len(s.agent.questions()) - asked; n != 0 {
			s.Errorf("%d questions in a day without change", n)
		}
		if g := s.core.Snapshot().Generation; g != generation {
			s.Errorf("%d snapshots", g-generation)
		}
		if n := s.machine.reads - looked; n != 0 {
			s.Errorf("%d looks at the process table", n)
		}
	})
}

func TestRunTwice(t *testing.T) {
	play(t, nil, func(s *scene) {
		if err := s.core.Run(s.Context()); !errors.Is(err, ErrRunning) {
			s.Errorf("second Run: %v", err)
		}
	})
}

func TestSlowSubscriberLosesNothing(t *testing.T) {
	c := New(Config{})
	slow, gone := c.Events(), c.Events()
	gone.Close()
	const n = 10000
	for i := range n {
		c.mu.Lock()
		c.deliverLocked([]Event{{Kind: Started, Session: Session{Session: adapters.Session{ID: string(rune(i))}}}})
		c.mu.Unlock()
	}
	for i := range n {
		e, err := slow.Next(t.Context())
		if err != nil || e.Session.ID != string(rune(i)) {
			t.Fatalf("event %d: %v, %v", i, e, err)
		}
	}
	slow.Close()
	slow.Close()
	for _, e := range []*Events{slow, gone} {
		if _, err := e.Next(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Next after Close: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Events().Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next: %v", err)
	}
}
