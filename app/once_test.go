package app

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
)

// crowd returns n agents, and how many of them answered at the same time at most. Each
// takes a second, and lists one session, active now.
func crowd(n int) (list []adapters.Adapter, most func() int) {
	here := make(chan struct{}, n)
	at := make(chan int, n)
	for i := range n {
		a := &agent{name: adapters.Name(fmt.Sprint("agent", i))}
		a.hook(func(context.Context, adapters.Query) {
			here <- struct{}{}
			time.Sleep(time.Second / 2)
			at <- len(here)
			time.Sleep(time.Second / 2)
			<-here
		})
		a.says(nil, changed(on("s", adapters.Stopped, 0), func(s *adapters.Session) { s.Agent, s.LastActivityAt = a.name, time.Now() }))
		list = append(list, a)
	}
	return list, func() int {
		most := 0
		for range n {
			most = max(most, <-at)
		}
		return most
	}
}

// What all agents need to read everything they ever did must not be in memory at the
// same time; a shorter list is there sooner when all are asked at once.
func TestEverythingIsReadByTwoAgentsAtATime(t *testing.T) {
	for _, test := range []struct {
		name  string
		since time.Duration
		last  bool
		most  int
	}{
		{"all, for the last time", All, true, 2},
		{"a week, for the last time", 7 * 24 * time.Hour, true, 3},
		{"all, and others follow", All, false, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				list, most := crowd(3)
				snap := Ask(t.Context(), Config{Adapters: list, Since: test.since}, Once{Last: test.last})
				if got := most(); got != test.most {
					t.Errorf("%d agents were asked at once, want %d", got, test.most)
				}
				for _, h := range snap.Adapters {
					if h.State != OK || h.Sessions != 1 {
						t.Errorf("%s: %s, %d sessions, want ok and 1: %q", h.Name, h.State, h.Sessions, h.Problems)
					}
				}
			})
		})
	}
}

// An agent that hangs costs the others its limit, not their answer; several that hang
// cost no more than one.
func TestEverythingIsReadBesideAgentsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 5 * time.Second
		list, _ := crowd(2)
		freed := make(chan struct{})
		for i := range 3 {
			a := &agent{name: adapters.Name(fmt.Sprint("hangs", i))}
			a.hook(func(context.Context, adapters.Query) { <-freed })
			list = append([]adapters.Adapter{a}, list...)
		}
		began := time.Now()
		snap := Ask(t.Context(), Config{Adapters: list, Since: All, Limit: limit}, Once{Last: true})
		if took := time.Since(began); took > 2*limit {
			t.Errorf("the list took %s, want at most twice the limit of %s", took, limit)
		}
		for i, h := range snap.Adapters {
			if want := map[bool]AdapterState{true: Failed, false: OK}[i < 3]; h.State != want {
				t.Errorf("%s: %s, want %s: %q", h.Name, h.State, want, h.Problems)
			}
		}
		close(freed)
		synctest.Wait()
	})
}

// What one agent lists stays when it answers before the next is asked.
func TestOnceKeepsEveryAnswer(t *testing.T) {
	for range 300 {
		list := []adapters.Adapter{}
		for i := range 2 {
			a := &agent{name: adapters.Name(fmt.Sprint("agent", i))}
			a.says(nil, changed(on("s", adapters.Stopped, 0), func(s *adapters.Session) { s.Agent, s.LastActivityAt = a.name, time.Now() }))
			list = append(list, a)
		}
		if snap := Ask(t.Context(), Config{Since: time.Hour, Adapters: list}, Once{}); len(snap.Sessions()) != 2 {
			t.Fatalf("%d sessions, want 2", len(snap.Sessions()))
		}
	}
}

// slowToSave is an agent that saves a cache after each answer, for longer than an answer may take.
type slowToSave struct {
	agent
	saved atomic.Bool
}

func (a *slowToSave) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	q.AfterAnswer(func() {
		time.Sleep(2 * defaultLimit)
		a.saved.Store(true)
	})
	return a.agent.Discover(ctx, q)
}

// What an agent's adapter saves for later answers does not cost it this one, and is saved before the process ends.
func TestAnswerDoesNotWaitForTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &slowToSave{agent: agent{name: "slow"}}
		a.says(nil, changed(on("s", adapters.Stopped, 0), func(s *adapters.Session) { s.Agent, s.LastActivityAt = "slow", time.Now() }))
		snap := Ask(t.Context(), Config{Adapters: []adapters.Adapter{a}, Since: All}, Once{Last: true})
		if h := snap.Adapters[0]; h.State != OK || len(snap.Sessions()) != 1 || !a.saved.Load() {
			t.Errorf("%s with %d sessions, saved %v: %q", h.State, len(snap.Sessions()), a.saved.Load(), h.Problems)
		}
	})
}
