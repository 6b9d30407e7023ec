package launch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/must"
	"rollcall/proc"
)

// missed returns what the next tray tells.
func (s *stage) missed() []Missed {
	s.t.Helper()
	ended := must.Get(s.EndedUnreported())(s.t)
	list := []adapters.Adapter{s.fake}
	live := app.New(app.Config{Adapters: list, Table: s.table, Launches: s.Launches}).Refresh(s.t.Context())
	missed, err := s.Missed(s.t.Context(), ended, live, app.New(app.Config{Adapters: list, Table: s.table, Since: app.All}))
	must.Do(s.t, err)
	return missed
}

// over waits until the process of the only launch has ended, which nobody notes.
func (s *stage) over() {
	s.t.Helper()
	s.finish(s.only().Session)
	s.until("the end of the process", func() bool { return !s.table.Alive(s.only().Process) })
}

// A launch that ended while no tray was there is reported by the next one until that
// says that the user knows, and not again.
func TestMissedLaunch(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	s.start(nil)
	if got := s.missed(); len(got) != 0 {
		t.Fatalf("a launch that goes on is reported: %+v", got)
	}
	s.until("the agent's file", func() bool { return len(s.missedSessions()) == 1 })
	s.over()
	for range 2 { // a crash before it was noted
		got := s.missed()
		r := s.only()
		if len(got) != 1 || got[0].Session.Outcome != adapters.Completed || got[0].Record.ID != r.ID || !r.Ended() {
			t.Fatalf("missed %+v", got)
		}
	}
	must.Do(t, s.MarkReported(t.Context(), s.only().ID, "l-gone"))
	if got := s.missed(); len(got) != 0 {
		t.Errorf("reported again: %+v", got)
	}
}

// missedSessions returns the sessions in the agent's storage.
func (s *stage) missedSessions() []adapters.Session {
	roll := must.Get(s.Discover(s.t.Context(), adapters.Query{}))(s.t)
	return roll.Sessions
}

// An end of more than a day ago, a launch that never came to be and one of an
// older version are not reported.
func TestMissedLaunchesThatAreNotReported(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	gone := proc.Identity{PID: 1 << 22, Start: 1, Boot: proc.Self().Boot}
	now := time.Now()
	for _, r := range []Record{
		{ID: "l-reported", Process: gone, LaunchedAt: now.Add(-time.Hour), EndedAt: now},
		{ID: "l-never", Starter: gone, LaunchedAt: now.Add(-time.Hour), Unreported: true},
		{ID: "l-old", Process: gone, Seen: true, LaunchedAt: now.Add(-50 * time.Hour), Unreported: true},
		{ID: "l-new", Process: gone, Seen: true, LaunchedAt: now.Add(-50 * time.Hour), EndedAt: now.Add(-time.Hour), Unreported: true},
	} {
		r.Agent, r.Dir = s.Name(), s.dir
		must.Do(t, s.records.Write(r.ID, r))
	}
	got := s.missed()
	if len(got) != 1 || got[0].Record.ID != "l-new" {
		t.Errorf("missed %+v", got)
	}
	if r, err := s.record("l-old"); err != nil || r.Unreported {
		t.Errorf("an end of long ago is not noted as reported: %+v, %v", r, err)
	}
}

// A session that was taken up in another process has not ended for the user.
func TestMissedLaunchThatWasResumed(t *testing.T) {
	s := newStage(t, &fake{chooses: true})
	s.start(nil)
	s.until("the agent's file", func() bool { return len(s.missedSessions()) == 1 })
	s.over()
	if _, err := s.Sweep(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	s.resumed(t)
	if got := s.missed(); len(got) != 0 {
		t.Errorf("missed %+v", got)
	}
}

// resumed has the agent's only session go on in this very process.
func (s *stage) resumed(t *testing.T) {
	t.Helper()
	e := entry{ID: "chosen", Dir: s.dir, Process: proc.Self()}
	data, err := json.Marshal(e)
	if err == nil {
		err = os.WriteFile(filepath.Join(s.store, e.ID), data, 0o600)
	}
	must.Do(t, err)
}
