package notify

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

func session(id string, status adapters.Status, pid int) app.Session {
	s := adapters.Session{ID: id, Agent: agentname.Codex, State: adapters.State{Status: status}, Place: adapters.Place{CWD: "/w/" + id}}
	if status == adapters.Waiting {
		s.WaitingFor = adapters.ForPermission
	}
	if pid != 0 {
		s.Process = proc.Identity{PID: pid, Start: 7}
	}
	return app.Session{Session: s}
}

func end(id string, pid int) app.Event {
	return app.Event{Kind: app.Ended, At: noon, Session: session(id, adapters.Stopped, 0), Before: session(id, adapters.Working, pid)}
}

func change(id string, from, to adapters.Status) app.Event {
	return app.Event{Kind: app.Changed, At: noon, Session: session(id, to, 1), Before: session(id, from, 1)}
}

func child(ev app.Event, parent string) app.Event {
	ev.Session.Parent, ev.Before.Parent = parent, parent
	return ev
}

func question(ev app.Event) app.Event {
	ev.Session.WaitingFor = adapters.ForQuestion
	return ev
}

// suspended returns an event that says that the session's process is stopped by a signal.
func suspended(ev app.Event) app.Event {
	ev.Session.Suspended = true
	return ev
}

func continued(ev app.Event) app.Event {
	ev.Before.Suspended = true
	return ev
}

// wasStale returns an event of a session that could not be read before.
func wasStale(ev app.Event) app.Event {
	ev.Before.Stale = &app.Stale{Since: noon, Reason: "not readable"}
	return ev
}

// row is a process without a session.
var row = adapters.ProcessSession(agentname.Codex, proc.Process{Identity: proc.Identity{PID: 5, Start: 7}}, "/w/row")

func begins(s adapters.Session) app.Event {
	return app.Event{Kind: app.Started, At: noon, Session: app.Session{Session: s}}
}

func ends(s adapters.Session) app.Event {
	over := s
	over.Status, over.Process = adapters.Stopped, proc.Identity{}
	return app.Event{Kind: app.Ended, At: noon, Session: app.Session{Session: over}, Before: app.Session{Session: s}, Process: s.Process}
}

func ofLaunch(ev app.Event) app.Event {
	ev.Session.Launch = &app.Launch{ID: "l-1"}
	return ev
}

// with names the other sessions that end with the same process.
func with(ev app.Event, ids ...string) app.Event {
	ev.Process = ev.Before.Process
	for _, id := range ids {
		ev.With = append(ev.With, session(id, adapters.Stopped, 0))
	}
	return ev
}

// said lists orders in short: what would be shown or withdrawn, for whom.
func said(orders []order) string {
	var out []string
	for _, o := range orders {
		if o.withdraw {
			out = append(out, "withdraw "+o.key)
		} else {
			out = append(out, o.text.Title+" ["+o.session+"]")
		}
	}
	return strings.Join(out, "; ")
}

func TestPolicy(t *testing.T) {
	type batch = []app.Event
	started := change("a", "", adapters.Waiting)
	started.Kind, started.Before = app.Started, app.Session{}
	gone := end("a", 5)
	gone.Before.Status, gone.Before.WaitingFor = adapters.Waiting, adapters.ForPermission
	twice := question(change("a", adapters.Waiting, adapters.Waiting))
	for name, c := range map[string]struct {
		batches []batch
		want    []string
	}{
		"one ends":              {[]batch{{end("a", 5)}}, []string{"Codex ended in a [a]"}},
		"told once":             {[]batch{{end("a", 5)}, {end("a", 5)}, {end("a", 5), end("a", 5)}}, []string{"Codex ended in a [a]", "", ""}},
		"resumed and ended":     {[]batch{{end("a", 5)}, {end("a", 6)}}, []string{"Codex ended in a [a]", "Codex ended in a [a]"}},
		"no process, two ends":  {[]batch{{end("a", 0)}, {end("a", 0)}}, []string{"Codex ended in a [a]", "Codex ended in a [a]"}},
		"one process, three":    {[]batch{{end("a", 5), end("b", 5), end("c", 5)}}, []string{"Codex ended with 3 sessions [a]"}},
		"batch torn apart":      {[]batch{{with(end("a", 5), "b", "c")}, {with(end("b", 5), "a", "c"), with(end("c", 5), "a", "b")}}, []string{"Codex ended with 3 sessions [a]", ""}},
		"two processes":         {[]batch{{end("a", 5), end("b", 6)}}, []string{"Codex ended in a [a]; Codex ended in b [b]"}},
		"one straggles":         {[]batch{{end("a", 5)}, {end("b", 5)}}, []string{"Codex ended in a [a]", "Codex ended with 2 sessions [a]"}},
		"sub-agent alone":       {[]batch{{child(end("a", 5), "p")}}, []string{""}},
		"sub-agent with parent": {[]batch{{child(end("a", 5), "p"), end("p", 5)}}, []string{"Codex ended in p [p]"}},
		"waits, goes on":        {[]batch{{change("a", adapters.Working, adapters.Waiting)}, {change("a", adapters.Waiting, adapters.Working)}}, []string{"Codex needs permission in a [a]", "withdraw waiting codex a"}},
		"waits, ends":           {[]batch{{change("a", adapters.Working, adapters.Waiting)}, {gone}}, []string{"Codex needs permission in a [a]", "Codex ended in a [a]; withdraw waiting codex a"}},
		"waits for another":     {[]batch{{change("a", adapters.Working, adapters.Waiting)}, {twice}}, []string{"Codex needs permission in a [a]", "Codex asks you in a [a]"}},
		"waits twice over":      {[]batch{{change("a", adapters.Working, adapters.Waiting)}, {change("a", adapters.Waiting, adapters.Waiting)}}, []string{"Codex needs permission in a [a]", ""}},
		"waits for another of the same kind after it could not be read": {[]batch{
			{change("a", adapters.Working, adapters.Waiting)}, {wasStale(change("a", adapters.Waiting, adapters.Waiting))},
			{change("a", adapters.Waiting, adapters.Working)},
		}, []string{"Codex needs permission in a [a]", "Codex needs permission in a [a]", "withdraw waiting codex a"}},
		"not listed for a while": {[]batch{
			{change("a", adapters.Working, adapters.Waiting)}, {change("a", adapters.Waiting, adapters.Unknown)},
			{change("a", adapters.Unknown, adapters.Waiting)}, {change("a", adapters.Waiting, adapters.Working)},
		}, []string{"Codex needs permission in a [a]", "", "", "withdraw waiting codex a"}},
		"not listed, then idle": {[]batch{
			{change("a", adapters.Working, adapters.Waiting)}, {change("a", adapters.Waiting, adapters.Unknown)},
			{change("a", adapters.Unknown, adapters.Idle)},
		}, []string{"Codex needs permission in a [a]", "", "withdraw waiting codex a"}},
		"waited before we came":         {[]batch{{change("a", adapters.Waiting, adapters.Working)}}, []string{""}},
		"appears waiting":               {[]batch{{started}}, []string{"Codex needs permission in a [a]"}},
		"working and idle":              {[]batch{{change("a", adapters.Idle, adapters.Working), change("a", adapters.Working, adapters.Idle)}}, []string{""}},
		"process without a session":     {[]batch{{begins(row)}, {ends(row)}}, []string{"", ""}},
		"launch without a session":      {[]batch{{ofLaunch(ends(row))}}, []string{"Codex ended in row [" + row.ID + "]"}},
		"session and a process row end": {[]batch{{with(end("a", 5), row.ID), ends(row)}}, []string{"Codex ended in a [a]"}},
		"suspended at work, continued": {[]batch{
			{suspended(change("a", adapters.Working, adapters.Idle))}, {continued(change("a", adapters.Idle, adapters.Working))},
		}, []string{"", ""}},
		"suspended while idle, continued": {[]batch{
			{suspended(change("a", adapters.Idle, adapters.Idle))}, {continued(change("a", adapters.Idle, adapters.Idle))},
		}, []string{"", ""}},
		"a wait that was told is suspended, continued, answered": {[]batch{
			{change("a", adapters.Working, adapters.Waiting)}, {suspended(change("a", adapters.Waiting, adapters.Waiting))},
			{continued(change("a", adapters.Waiting, adapters.Waiting))}, {change("a", adapters.Waiting, adapters.Working)},
		}, []string{"Codex needs permission in a [a]", "", "", "withdraw waiting codex a"}},
		"a wait from before we came is suspended, continued": {[]batch{
			{suspended(change("a", adapters.Waiting, adapters.Waiting))}, {continued(change("a", adapters.Waiting, adapters.Waiting))},
		}, []string{"", ""}},
		"suspended, killed": {[]batch{{suspended(change("a", adapters.Working, adapters.Idle))}, {end("a", 5)}}, []string{"", "Codex ended in a [a]"}},
		"parent and child wait": {[]batch{
			{child(change("c", adapters.Working, adapters.Waiting), "p"), change("p", adapters.Working, adapters.Waiting)},
			{change("p", adapters.Waiting, adapters.Working)},
			{child(change("c", adapters.Waiting, adapters.Working), "p")},
		}, []string{"Codex needs permission in c [c]", "", "withdraw waiting codex p"}},
	} {
		p := newPolicy(nil)
		for i, events := range c.batches {
			if got := said(p.take(events, look{now: noon})); got != c.want[i] {
				t.Errorf("%s, batch %d:\n got %s\nwant %s", name, i, got, c.want[i])
			}
		}
	}
}

func TestWants(t *testing.T) {
	p := newPolicy(func() Rules {
		return Rules{Kinds: map[Kind]Manner{Permission: Off}, Muted: func(folder string) bool { return folder == "/w/b" }}
	})
	got := said(p.take([]app.Event{change("a", adapters.Working, adapters.Waiting), end("a", 5), end("b", 5),
		change("a", adapters.Waiting, adapters.Working)}, look{now: noon}))
	if got != "Codex ended in a [a]" {
		t.Errorf("got %s", got)
	}
}

func TestPolicyForgetsOldEnds(t *testing.T) {
	p := newPolicy(nil)
	for i := range 10 * remembered {
		p.take([]app.Event{end(fmt.Sprint(i), i+1)}, look{now: noon})
	}
	if len(p.ends) > remembered || len(p.known) > remembered || len(p.waits) != 0 {
		t.Errorf("%d ends, %d keys, %d waits kept", len(p.ends), len(p.known), len(p.waits))
	}
}

func TestOutbox(t *testing.T) {
	b := newOutbox()
	b.put(order{key: "a", session: "1"}, order{key: "b"}, order{key: "a", session: "2"})
	first, _ := b.take()
	if first.key != "b" || b.len() != 1 {
		t.Errorf("took %+v, %d left: an order of the same key did not supersede", first, b.len())
	}
	second, _ := b.take()
	b.put(order{key: "a", withdraw: true})
	b.back(second)
	if got, _ := b.take(); !got.withdraw {
		t.Errorf("took %+v: an old order came back over a newer one", got)
	}
	b.put(order{key: "c"})
	b.back(order{key: "d"})
	if got, _ := b.take(); got.key != "d" {
		t.Errorf("took %+v: what came back is not the first", got)
	}
	b.take()
	if _, ok := b.take(); ok {
		t.Error("took from an empty outbox")
	}
}

// A thread that was stored without a turn, as Codex 0.80 does at /quit, was a process
// without a session to the user: its end is not told. The end of any other is.
func TestEndWithoutATurn(t *testing.T) {
	empty := ends(session("a", adapters.Idle, 1).Session)
	prompted := empty
	prompted.Session.FirstPrompt = "fix it"
	done := empty
	done.Before.Outcome = adapters.Completed
	for _, tt := range []struct {
		what string
		ev   app.Event
		told int
	}{
		{"no turn", empty, 0}, {"a prompt", prompted, 1}, {"an outcome", done, 1}, {"a turn", end("a", 1), 1}, {"a launch", ofLaunch(empty), 1},
	} {
		if orders := newPolicy(nil).take([]app.Event{tt.ev}, look{now: noon}); len(orders) != tt.told {
			t.Errorf("%s: %d orders, want %d: %v", tt.what, len(orders), tt.told, orders)
		}
	}
}

// TestRemovedByItsGateway: no process ended, but a wait is over.
func TestRemovedByItsGateway(t *testing.T) {
	remote := func(ev app.Event) app.Event {
		ev.Session.Remote, ev.Before.Remote = "office", "office"
		return ev
	}
	p := newPolicy(nil)
	if orders := p.take([]app.Event{remote(end("a", 0))}, look{now: noon}); len(orders) != 0 {
		t.Errorf("%+v", orders)
	}
	p.take([]app.Event{remote(change("b", adapters.Working, adapters.Waiting))}, look{now: noon})
	if orders := p.take([]app.Event{remote(end("b", 0))}, look{now: noon}); len(orders) != 1 || !orders[0].withdraw {
		t.Errorf("%+v", orders)
	}
}

// TestMachineEnds: the end of a process on another machine is notified once, with all its sessions; that of a session that its gateway removed is not.
func TestMachineEnds(t *testing.T) {
	p := newPolicy(nil)
	end := func(id, process, remote string) app.Event {
		s := app.Session{Machine: "devbox", Session: adapters.Session{
			ID: "devbox:" + id, Agent: agentname.Codex,
			State: adapters.State{Status: adapters.Stopped, Outcome: adapters.Completed},
			Place: adapters.Place{CWD: "/src/shop", Remote: remote},
			Topic: adapters.Topic{FirstPrompt: "p"},
		}}
		return app.Event{Kind: app.Ended, Session: s, MachineProcess: process}
	}
	orders := p.take([]app.Event{end("a", "devbox 1", "devbox"), end("b", "devbox 1", "devbox"), end("c", "", "gateway")}, look{now: noon})
	if len(orders) != 1 || len(orders[0].ended) != 2 || orders[0].session != "devbox:a" {
		t.Errorf("%+v", orders)
	}
	if again := p.take([]app.Event{end("a", "devbox 1", "devbox")}, look{now: noon}); len(again) != 0 {
		t.Errorf("told again: %+v", again)
	}
	if next := p.take([]app.Event{end("a", "devbox 2", "devbox")}, look{now: noon}); len(next) != 1 {
		t.Errorf("another process: %+v", next)
	}
}
