package app

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// TestLeaveOut: the sessions of an agent that is left out are not shown and have no events; they stay known for what must not depend on
// what is shown, and what Rollcall launched stays shown.
func TestLeaveOut(t *testing.T) {
	m := newMachine(pid(1), pid(2), pid(3), pid(4))
	codex, claude := &agent{name: agentname.Codex}, &agent{name: agentname.ClaudeCode}
	child := on("child", adapters.Working, 2)
	child.Parent = "launched"
	ofCodex := func(s adapters.Session) adapters.Session { s.Agent = agentname.Codex; return s }
	own := ofCodex(on("own", adapters.Waiting, 1))
	own.MayAsk = true // of what is not shown any more, nothing may be told
	codex.says(nil, own, ofCodex(on("launched", adapters.Working, 2)), ofCodex(child))
	claude.says(nil, on("other", adapters.Idle, 3))
	c := New(Config{Adapters: []adapters.Adapter{codex, claude}, Table: m, Watch: m, Launches: launchesOf("launched")})
	events := c.Events()
	defer events.Close()
	ids := func(list iter.Seq[*Session]) (out []string) {
		for s := range list {
			out = append(out, s.ID)
		}
		slices.Sort(out)
		return out
	}
	c.Refresh(t.Context())
	c.LeaveOut([]adapters.Name{agentname.Codex})
	snap := c.Snapshot()
	if got := ids(snap.All()); !slices.Equal(got, []string{"child", "launched", "other"}) {
		t.Errorf("shown: %q", got)
	}
	if got := ids(snap.Known()); !slices.Equal(got, []string{"child", "launched", "other", "own"}) {
		t.Errorf("known: %q", got)
	}
	if len(snap.Adapters) != 1 || len(snap.LeftOut.Adapters) != 1 || !slices.Equal(snap.LeftOut.Agents, []adapters.Name{agentname.Codex}) {
		t.Errorf("adapters %+v, left out %+v", snap.Adapters, snap.LeftOut)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel() // so that Next returns queued events and never waits
	e, err := events.Next(done)
	if err != nil || e.Kind != Changed || e.Session.ID != "own" || e.Session.Status != adapters.Unknown || e.Session.MayAsk || e.Before.Status != adapters.Waiting {
		t.Errorf("event %+v, %v", e, err)
	}
	codex.says(errors.New("broken"), ofCodex(on("own", adapters.Working, 1)), ofCodex(on("launched", adapters.Idle, 2)))
	c.RefreshOne(t.Context(), agentname.Codex)
	if got := c.Snapshot().Incomplete(); !slices.Equal(got, []adapters.Name{agentname.Codex}) {
		t.Errorf("incomplete: %v", got)
	}
	var told []string
	for e, err := events.Next(done); err == nil; e, err = events.Next(done) {
		told = append(told, e.Session.ID)
	}
	if !slices.Equal(told, []string{"launched"}) {
		t.Errorf("events of %q", told)
	}
	c.LeaveOut(nil)
	if got := ids(c.Snapshot().All()); !slices.Contains(got, "own") || len(c.Snapshot().LeftOut.Agents) != 0 {
		t.Errorf("shown again: %q", got)
	}
}

// launchesOf are the ids of the sessions that Rollcall launched.
type launchesOf string

func (l launchesOf) Complete(adapters.Name, []adapters.Session) ([]adapters.Session, func(*adapters.Session) *Launch) {
	return nil, func(s *adapters.Session) *Launch {
		if s.ID == string(l) {
			return &Launch{ID: "l1"}
		}
		return nil
	}
}

func (launchesOf) Output(string, int64) (string, error) { return "", nil }
