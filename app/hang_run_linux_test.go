package app

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/places"
	"rollcall/bounded"
	"rollcall/internal/agentname"
	"rollcall/internal/testfs"
	"rollcall/proc"
)

// hangingRoster is a roster that also looks in a place on a file system that may hang.
type hangingRoster struct {
	*roster
	place string
}

func (a *hangingRoster) WatchPaths() []string { return []string{a.dir, a.place} }

func (a *hangingRoster) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	roll, err := a.roster.Discover(ctx, q)
	roll.LookedIn = append(roll.LookedIn, a.place)
	if !bounded.Answers(a.place) {
		err = errors.Join(err, adapters.Unresponsive(a.place))
	}
	return roll, err
}

// A place that does not answer costs neither the answer of its adapter nor the
// watch of the adapter's other folders, and is looked at again once it answers.
func TestRunWithAPlaceThatHangs(t *testing.T) {
	mount := testfs.Mount(t, t.TempDir())
	mount.Hang(t)
	a := &hangingRoster{&roster{dir: t.TempDir()}, filepath.Join(mount.Path, "store")}
	a.write(t, "a", entry{Status: adapters.Idle})
	core, events := started(t, Config{Adapters: []adapters.Adapter{a}})
	if s := core.Snapshot(); len(s.Sessions()) != 1 || s.Sessions()[0].Stale != nil || len(s.Adapters[0].Problems) != 1 ||
		!strings.Contains(s.Adapters[0].Problems[0], a.place) {
		t.Fatalf("%+v", s)
	}
	a.write(t, "b", entry{Status: adapters.Working})
	if e := next(t, events); e.Session.ID != "b" {
		t.Errorf("%+v", e)
	}
	s := core.sources[0]
	core.mu.Lock()
	s.noteUnreadable(question{}, adapters.Unresponsive(a.place))
	core.mu.Unlock()
	look := func(before places.Unreadable[*source]) (places.Unreadable[*source], bool) {
		touched, calls := map[*source]bool{}, &bounded.Calls{}
		calls.Begin()
		defer calls.End()
		return core.unreadablePlaces(before).Retry(touched, calls), touched[s]
	}
	closed, touched := look(nil)
	if touched || len(closed[s]) != 1 {
		t.Errorf("%v: touched: %v", closed, touched)
	}
	mount.Answer(t)
	if _, touched := look(closed); !touched {
		t.Error("that it answers again is not noticed")
	}
}

// silentOwner is an agent whose judgement of a process never returns.
type silentOwner struct {
	*agent
	end chan struct{}
}

func (d silentOwner) OwnsProcess(proc.Process) bool { <-d.end; return true }

// A stop does not wait forever to be reported whether it may signal a process, and does
// not signal it then.
func TestStopWithoutJudgement(t *testing.T) {
	a := silentOwner{&agent{name: agentname.ClaudeCode}, make(chan struct{})}
	defer close(a.end)
	core := New(Config{Adapters: []adapters.Adapter{a}, Limit: 50 * time.Millisecond})
	s := Session{Session: on("a", adapters.Working, 1)}
	done := make(chan error, 1)
	go func() { done <- core.mayBeSignalled(t.Context(), &s, proc.Process{Identity: pid(1)}) }()
	select {
	case err := <-done:
		if !errors.Is(err, ErrCannotStop) || !errors.Is(err, adapters.ErrTimeout) {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for ever")
	}
}
