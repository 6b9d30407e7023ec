package app

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

var (
	noAnswer = func() error { return context.DeadlineExceeded }()
	partly   = error(adapters.Unreadable("/x/y.jsonl", fs.ErrPermission))
)

// TestReconcile is the table of the design, row by row.
func TestReconcile(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	before := func(list ...adapters.Session) []Session {
		var out []Session
		for _, s := range list {
			out = append(out, Session{Session: s})
		}
		return out
	}
	idle := changed(on("a", adapters.Idle, 1), func(s *adapters.Session) { s.Outcome = adapters.Completed })
	why := partly.Error()
	tests := []struct {
		name   string
		before []Session
		listed []adapters.Session
		err    error
		ids    []string
		alive  []int
		want   []shownRow
	}{
		{name: "working, alive: as listed", listed: []adapters.Session{on("a", adapters.Working, 1)}, alive: []int{1},
			want: []shownRow{{"a", adapters.Working, "", 1, ""}}},
		{name: "waiting, alive: as listed", listed: []adapters.Session{on("a", adapters.Waiting, 1)}, alive: []int{1},
			want: []shownRow{{"a", adapters.Waiting, "", 1, ""}}},
		{name: "working, gone: died", listed: []adapters.Session{on("a", adapters.Working, 1)},
			want: []shownRow{{"a", adapters.Stopped, adapters.Died, 0, ""}}},
		{name: "waiting, gone: died", listed: []adapters.Session{on("a", adapters.Waiting, 1)},
			want: []shownRow{{"a", adapters.Stopped, adapters.Died, 0, ""}}},
		{name: "idle, gone: stopped with its last outcome", listed: []adapters.Session{idle},
			want: []shownRow{{"a", adapters.Stopped, adapters.Completed, 0, ""}}},
		{name: "unknown, gone: stopped, outcome not made up", listed: []adapters.Session{on("a", adapters.Unknown, 1)},
			want: []shownRow{{"a", adapters.Stopped, "", 0, ""}}},
		{name: "partly, listed as a process alone: stale, the process is still its own", before: before(on("a", adapters.Working, 1)),
			listed: []adapters.Session{adapters.ProcessSession(agentname.ClaudeCode, proc.Process{Identity: pid(1)}, "/p")}, err: partly, alive: []int{1},
			want: []shownRow{{"a", adapters.Working, "", 1, why}}},
		{name: "no process known: as listed", listed: []adapters.Session{on("a", adapters.Working, 0)},
			want: []shownRow{{"a", adapters.Working, "", 0, ""}}},
		{name: "remote: this machine's table says nothing about it",
			listed: []adapters.Session{changed(on("a", adapters.Working, 1), func(s *adapters.Session) { s.Remote = "gw" })},
			want:   []shownRow{{"a", adapters.Working, "", 1, ""}}},
		{name: "in a container, gone: how its turn ended can't be read",
			listed: []adapters.Session{changed(on("a", adapters.Working, 1), func(s *adapters.Session) { s.Container = "4026532456" })},
			want:   []shownRow{{"a", adapters.Stopped, "", 0, ""}}},
		{name: "in a container, alive: as listed", alive: []int{1},
			listed: []adapters.Session{changed(on("a", adapters.Working, 1), func(s *adapters.Session) { s.Container = "4026532456" })},
			want:   []shownRow{{"a", adapters.Working, "", 1, ""}}},
		{name: "same pid, other process: died",
			listed: []adapters.Session{changed(on("a", adapters.Working, 1), func(s *adapters.Session) { s.Process.Start++ })}, alive: []int{1},
			want: []shownRow{{"a", adapters.Stopped, adapters.Died, 0, ""}}},
		{name: "answered, no longer listed: not shown", before: before(on("a", adapters.Working, 1)), alive: []int{1},
			want: []shownRow{}},
		{name: "absent: nothing is there", before: before(on("a", adapters.Working, 1)), err: adapters.ErrAbsent, alive: []int{1},
			want: []shownRow{}},
		{name: "failed, alive: last status, stale", before: before(on("a", adapters.Working, 1)), err: partly, alive: []int{1},
			want: []shownRow{{"a", adapters.Working, "", 1, why}}},
		{name: "failed, unknown whether alive: last status, stale", before: before(on("a", adapters.Waiting, 0)), err: noAnswer,
			want: []shownRow{{"a", adapters.Waiting, "", 0, noAnswer.Error()}}},
		{name: "failed, dead: stopped, and its files may say that the turn ended", before: before(on("a", adapters.Working, 1)), err: partly,
			want: []shownRow{{"a", adapters.Stopped, "", 0, why}}},
		{name: "failed, idle and dead: stopped with its last outcome", before: before(idle), err: partly,
			want: []shownRow{{"a", adapters.Stopped, adapters.Completed, 0, why}}},
		{name: "failed, stopped before: stays", before: before(on("a", adapters.Stopped, 0)), err: partly,
			want: []shownRow{{"a", adapters.Stopped, "", 0, why}}},
		{name: "partly: listed fresh, others stale", before: before(on("a", adapters.Working, 1), on("b", adapters.Working, 2)),
			listed: []adapters.Session{on("b", adapters.Idle, 2)}, err: partly, alive: []int{1, 2},
			want: []shownRow{{"b", adapters.Idle, "", 2, ""}, {"a", adapters.Working, "", 1, why}}},
		{name: "partly, and its process has another session now", before: before(on("a", adapters.Working, 1)),
			listed: []adapters.Session{on("b", adapters.Idle, 1)}, err: partly, alive: []int{1},
			want: []shownRow{{"b", adapters.Idle, "", 1, ""}, {"a", adapters.Stopped, "", 0, why}}},
		{name: "partly, and its process has a new sub-agent", before: before(on("a", adapters.Working, 1)),
			listed: []adapters.Session{changed(on("b", adapters.Working, 1), func(s *adapters.Session) { s.Parent = "a" })}, err: partly, alive: []int{1},
			want: []shownRow{{"b", adapters.Working, "", 1, ""}, {"a", adapters.Working, "", 1, why}}},
		{name: "partly, one of many on a shared process", before: before(changed(on("a", adapters.Working, 1), func(s *adapters.Session) { s.Shared = true })),
			listed: []adapters.Session{on("b", adapters.Idle, 1)}, err: partly, alive: []int{1},
			want: []shownRow{{"b", adapters.Idle, "", 1, ""}, {"a", adapters.Working, "", 1, why}}},
		{name: "asked for another: as before", before: before(on("a", adapters.Working, 1), on("b", adapters.Working, 2)),
			listed: []adapters.Session{on("b", adapters.Idle, 2)}, ids: []string{"b"}, alive: []int{1, 2},
			want: []shownRow{{"b", adapters.Idle, "", 2, ""}, {"a", adapters.Working, "", 1, ""}}},
		{name: "asked for another, which failed: not stale", before: before(on("a", adapters.Working, 1), on("b", adapters.Working, 2)),
			err: partly, ids: []string{"b"}, alive: []int{1, 2},
			want: []shownRow{{"a", adapters.Working, "", 1, ""}, {"b", adapters.Working, "", 2, why}}},
		{name: "asked for another, gone meanwhile: likewise", before: before(on("a", adapters.Working, 1)), ids: []string{"b"},
			want: []shownRow{{"a", adapters.Stopped, "", 0, ""}}},
		{name: "open in two processes: the live one",
			listed: []adapters.Session{on("a", adapters.Working, 1), on("a", adapters.Idle, 2)}, alive: []int{2},
			want: []shownRow{{"a", adapters.Idle, "", 2, ""}}},
		{name: "open in two live processes: the one that needs the user",
			listed: []adapters.Session{on("a", adapters.Idle, 1), on("a", adapters.Waiting, 2)}, alive: []int{1, 2},
			want: []shownRow{{"a", adapters.Waiting, "", 2, ""}}},
		{name: "stale before, answered now: fresh", alive: []int{1},
			before: []Session{{Session: on("a", adapters.Working, 1), Stale: &Stale{Reason: "x"}}},
			listed: []adapters.Session{on("a", adapters.Working, 1)},
			want:   []shownRow{{"a", adapters.Working, "", 1, ""}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine()
			for _, n := range tt.alive {
				m.start(pid(n))
			}
			got := Reconcile(Input{Before: tt.before, Alive: m.Alive,
				Answer: Answer{At: noon, Sessions: tt.listed, Err: tt.err, IDs: tt.ids}})
			if d := cmp.Diff(tt.want, rowsOf(got)); d != "" {
				t.Errorf("shown (-want +got):\n%s", d)
			}
			for _, s := range got {
				if s.Evidence == "" {
					t.Errorf("%s has no evidence", s.ID)
				}
				if s.Status == adapters.Stopped && s.WaitingFor != "" {
					t.Errorf("%s is stopped and waits", s.ID)
				}
			}
		})
	}
}

func TestReconcileSaysWhatItRestsOn(t *testing.T) {
	s := on("a", adapters.Working, 1)
	got := Reconcile(Input{Answer: Answer{Sessions: []adapters.Session{s}}, Alive: func(proc.Identity) bool { return false }})
	if e := got[0].Evidence; !strings.Contains(e, "process 1 is gone") || !strings.Contains(e, s.Evidence) {
		t.Errorf("evidence %q names neither the process nor what its agent said", e)
	}
}

func TestStaleKeepsItsBeginning(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	alive := func(proc.Identity) bool { return true }
	first := Reconcile(Input{Before: []Session{{Session: on("a", adapters.Idle, 1)}}, Answer: Answer{At: noon, Err: partly}, Alive: alive})
	second := Reconcile(Input{Before: first, Answer: Answer{At: noon.Add(time.Hour), Err: noAnswer}, Alive: alive})
	want := &Stale{Since: noon, Reason: noAnswer.Error()}
	if d := cmp.Diff(want, second[0].Stale); d != "" {
		t.Error(d)
	}
	if first[0].Stale == second[0].Stale {
		t.Error("a published value was written to")
	}
}

func TestReason(t *testing.T) {
	if got := Reason(errors.Join(partly, noAnswer)); !strings.HasSuffix(got, "(and 1 more)") || !strings.Contains(got, "/x/y.jsonl") {
		t.Errorf("Reason = %q", got)
	}
}

func TestSort(t *testing.T) {
	at := func(id string, st adapters.Status, minute int) Session {
		s := on(id, st, 0)
		s.LastActivityAt = time.Date(2026, 11, 21, 12, minute, 0, 0, time.UTC)
		return Session{Session: s}
	}
	list := []Session{at("stopped", adapters.Stopped, 59), at("unknown", adapters.Unknown, 58), at("idle", adapters.Idle, 57),
		at("work-old", adapters.Working, 1), at("work-new", adapters.Working, 2), at("wait", adapters.Waiting, 0), at("twin-b", adapters.Idle, 3), at("twin-a", adapters.Idle, 3)}
	want := []string{"wait", "work-new", "work-old", "idle", "twin-a", "twin-b", "unknown", "stopped"}
	merged := merge([][]Session{sortSessions(list[:3]), nil, sortSessions(list[3:])})
	Sort(list)
	for name, got := range map[string][]Session{"Sort": list, "merge": merged} {
		ids := []string{}
		for _, s := range got {
			ids = append(ids, s.ID)
		}
		if d := cmp.Diff(want, ids); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
