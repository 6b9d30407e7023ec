package app

import (
	"fmt"
	"testing"
	"time"

	"rollcall/adapters"
)

// TestSnooze: a snooze ends at its time, and before when the session changes; one that needs the user can't be snoozed.
func TestSnooze(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	was := Session{Session: adapters.Session{
		ID:    "a",
		State: adapters.State{Status: adapters.Idle, Outcome: adapters.Completed},
		Times: adapters.Times{TurnStartedAt: now.Add(-time.Hour)},
	}}
	other := func(change func(*Session)) Session {
		s := was
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		s     Session
		after time.Duration
		want  bool
	}{
		"the same":             {was, time.Hour, true},
		"the time has come":    {was, 2 * time.Hour, false},
		"it works":             {other(func(s *Session) { s.Status, s.Outcome = adapters.Working, "" }), 0, false},
		"it waits":             {other(func(s *Session) { s.Status, s.Outcome = adapters.Waiting, "" }), 0, false},
		"it ended otherwise":   {other(func(s *Session) { s.Outcome = adapters.Failed }), 0, false},
		"another turn is over": {other(func(s *Session) { s.TurnStartedAt = now }), time.Minute, false},
		"its turn is unknown":  {other(func(s *Session) { s.TurnStartedAt = time.Time{} }), time.Minute, true},
	} {
		for _, until := range []time.Time{now.Add(2 * time.Hour), {}} {
			z, err := NewSnooze(&was, now, until)
			if err != nil {
				t.Fatal(err)
			}
			s, want := c.s, c.want || until.IsZero() && c.after == 2*time.Hour
			s.SetMark(Mark{Snooze: z}, now.Add(c.after))
			if s.Snoozed != want || s.PutAway() != want || want && !s.SnoozedUntil.Equal(until) || !want && !s.SnoozedUntil.IsZero() {
				t.Errorf("%s, until %v: snoozed %v until %v, put away %v; want %v", name, until, s.Snoozed, s.SnoozedUntil, s.PutAway(), want)
			}
		}
	}
	waits := other(func(s *Session) { s.Status = adapters.Waiting })
	if _, err := NewSnooze(&waits, now, time.Time{}); err == nil {
		t.Error("a session that needs the user is snoozed")
	}
	if _, err := NewSnooze(&was, now, now); err == nil {
		t.Error("a time that has passed is accepted")
	}
	if was.SetMark(Mark{}, now); was.Snoozed {
		t.Error("a session without a mark is snoozed")
	}
}

// TestPutAway: what the user hid or snoozed is folded with its sub-agents, but nothing that needs the user is.
func TestPutAway(t *testing.T) {
	s := func(id, parent string, status adapters.Status, change func(*Session)) Session {
		x := Session{Session: adapters.Session{ID: id, Parent: parent, State: adapters.State{Status: status}}}
		change(&x)
		return x
	}
	none := func(*Session) {}
	hidden := func(s *Session) { s.Hidden = true }
	snoozed := func(s *Session) { s.Snoozed = true }
	list := []Session{
		s("a", "", adapters.Working, hidden), s("a1", "a", adapters.Working, none), s("a2", "a", adapters.Waiting, none), s("a11", "a1", adapters.Idle, none),
		s("b", "", adapters.Waiting, hidden), s("b1", "b", adapters.Idle, none), s("c", "", adapters.Idle, snoozed), s("d", "", adapters.Idle, none),
	}
	if got := fmt.Sprint(PutAway(list)); got != "[true true false true false false true false]" {
		t.Error(got)
	}
}
