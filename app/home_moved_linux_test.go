package app

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/claudecode"
	"rollcall/adapters/codex"
	"rollcall/adapters/opencode"
	"rollcall/adapters/pi"
	players "rollcall/internal/adaptertest/scene"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// homed is an agent with a home of its own, and a core that asks its adapter.
type homed struct {
	*testing.T
	agent  players.Agent
	one    *players.Session
	core   *Core
	events *Events
}

// homedAgents are the agents whose sessions are in a folder of their user's home.
var homedAgents = map[adapters.Name]struct {
	play func(*players.Environment) players.Agent
	read func(adapters.Config) adapters.Adapter
}{
	agentname.ClaudeCode: {players.ClaudeCode, func(c adapters.Config) adapters.Adapter { return claudecode.New(c) }},
	agentname.Codex:      {players.Codex, func(c adapters.Config) adapters.Adapter { return codex.New(c) }},
	agentname.OpenCode:   {players.OpenCode, func(c adapters.Config) adapters.Adapter { return opencode.New(c) }},
	agentname.Pi:         {players.Pi, func(c adapters.Config) adapters.Adapter { return pi.New(c) }},
}

// eachHomed runs f for each agent, with a session that waits, or that is idle where the agent's files show no wait.
func eachHomed(t *testing.T, f func(h *homed)) {
	for name, a := range homedAgents {
		t.Run(string(name), func(t *testing.T) {
			w := players.New(t)
			h := &homed{T: t, agent: a.play(w)}
			h.one = h.agent.Start("/home/dev/proj", "begin")
			h.core = New(Config{Adapters: []adapters.Adapter{a.read(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})}, Table: w.Table, Since: time.Hour})
			h.events = h.core.Events()
			t.Cleanup(h.events.Close)
			if h.want("begun"); !h.one.Ask() {
				h.one.Answer("done")
			}
			h.want("asked", "working, then "+string(h.one.Truth().Status))
			f(h)
		})
	}
}

// want asks the adapter and compares the events that follow, each as "before, then after".
func (h *homed) want(what string, told ...string) {
	h.Helper()
	h.core.Refresh(h.Context())
	var got []string
	for _, e := range queued(h.T, h.events) {
		got = append(got, strings.TrimSpace(string(e.Before.Status)+", then "+string(e.Session.Status)))
	}
	if !slices.Equal(got, told) {
		h.Errorf("%s: events %q, want %q", what, got, told)
	}
}

// queued returns the events that have been delivered.
func queued(t *testing.T, events *Events) (list []Event) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for {
		e, err := events.Next(ctx)
		if err != nil {
			return list
		}
		list = append(list, e)
	}
}

// row returns the only row.
func (h *homed) row() Session {
	h.Helper()
	list := h.core.Snapshot().Sessions()
	if len(list) != 1 {
		h.Fatalf("%d rows, want 1: %+v", len(list), list)
	}
	return list[0]
}

func (h *homed) moveAway() { must.Do(h.T, os.Rename(h.agent.Store(), h.agent.Store()+"-away")) }
func (h *homed) moveBack() { must.Do(h.T, os.Rename(h.agent.Store()+"-away", h.agent.Store())) }

// TestHomeMovedAwayAndBack: a session whose home is away for a moment keeps its status, with the reason why it can't be read,
// and nothing is reported again when the home is back.
func TestHomeMovedAwayAndBack(t *testing.T) {
	eachHomed(t, func(h *homed) {
		truth := h.one.Truth()
		h.moveAway()
		for range 2 {
			h.want("away")
			if x := h.row(); x.ID != h.one.ID || players.TruthOf(&x.Session) != truth || x.Stale == nil || !strings.Contains(x.Stale.Reason, h.agent.Store()+": unreadable: the folder is missing") {
				h.Errorf("away: %s %s, stale %+v", x.ID, x.Status, x.Stale)
			}
		}
		h.moveBack()
		h.want("back")
		if x := h.row(); players.TruthOf(&x.Session) != truth || x.Stale != nil {
			h.Errorf("back: %s, stale %+v", x.Status, x.Stale)
		}
		if h.one.Prompt("go on"); truth.Status == adapters.Waiting {
			h.want("answered", "waiting, then working")
			h.one.Ask()
			h.want("asked again", "working, then waiting")
		}
	})
}

// TestHomeLinked: a home is moved for good, with a link in its place.
func TestHomeLinked(t *testing.T) {
	eachHomed(t, func(h *homed) {
		if h.one.Agent == agentname.Codex {
			h.Skip("the open files of a played process keep their paths")
		}
		h.moveAway()
		must.Do(h.T, os.Symlink(h.agent.Store()+"-away", h.agent.Store()))
		h.want("linked")
		if x := h.row(); players.TruthOf(&x.Session) != h.one.Truth() || x.Stale != nil {
			h.Errorf("linked: %s, stale %+v", x.Status, x.Stale)
		}
	})
}

// TestWaitsForAnotherRequestWhenHomeIsBack: a wait that began while a session could not be read is reported, although the
// session was shown as waiting before.
func TestWaitsForAnotherRequestWhenHomeIsBack(t *testing.T) {
	eachHomed(t, func(h *homed) {
		if h.one.Truth().Status != adapters.Waiting {
			h.Skip("its files show no wait")
		}
		h.moveAway()
		h.want("away")
		h.moveBack()
		for at := h.row().LastActivityAt; !time.Now().Truncate(time.Millisecond).After(at); { // agents' times have milliseconds
			runtime.Gosched()
		}
		h.one.Prompt("go on")
		h.one.Ask()
		h.want("back", "waiting, then waiting")
		h.want("again")
	})
}

// TestEndWhileHomeIsAway: how the turn of a session ended whose home is away is not known.
func TestEndWhileHomeIsAway(t *testing.T) {
	eachHomed(t, func(h *homed) {
		before := h.one.Truth()
		h.moveAway()
		h.want("away")
		h.one.Kill()
		h.want("killed", string(before.Status)+", then stopped")
		if x := h.row(); x.Outcome != before.Outcome || x.Stale == nil {
			h.Errorf("killed: %s %s, stale %+v", x.Status, x.Outcome, x.Stale)
		}
	})
}

// TestFileOfSessionDeleted: a session whose file was deleted is no longer listed.
func TestFileOfSessionDeleted(t *testing.T) {
	eachHomed(t, func(h *homed) {
		if h.one.Agent != agentname.Pi {
			h.Skip("more than one file, or one of all sessions, has the session")
		}
		must.Do(h.T, os.Remove(h.one.File))
		h.want("deleted", "idle, then unknown")
		if x := h.row(); x.ID == h.one.ID {
			h.Errorf("the session is listed: %+v", x)
		}
	})
}
