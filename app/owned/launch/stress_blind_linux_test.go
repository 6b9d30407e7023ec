package launch

import (
	"os"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/must"
	"rollcall/proc"
)

// elsewhere finds the session of the only launch with another core than the tray's.
func (s *stage) elsewhere() Record {
	s.t.Helper()
	other := &fake{store: s.store, table: s.table}
	l := In(s.state, s.table)
	core := app.New(app.Config{Adapters: []adapters.Adapter{other}, Table: s.table, Launches: l})
	s.until("the session, elsewhere", func() bool {
		r, err := l.Learn(s.t.Context(), s.only(), core.Refresh(s.t.Context()))
		return err == nil && r.Seen
	})
	return s.only()
}

// TestTrayWithoutWatches checks that a tray notices a launch by its record when the folder of the agent's first files is
// not watched.
func TestTrayWithoutWatches(t *testing.T) {
	s := newStage(t, &fake{})
	s.noWatch.Store(true)
	tr := s.tray()
	s.until("the first answer", func() bool { return !tr.core.Refresh(t.Context()).Refreshing })
	s.start(nil)
	r := s.elsewhere()
	s.until("the session in the tray", func() bool {
		list := tr.core.Snapshot().Sessions()
		return len(list) == 1 && list[0].ID == r.Session && list[0].Launch != nil && list[0].Process == r.Process
	})
}

// TestOthersEndMeanwhile checks that a launch without a listed session keeps its row while the agent is asked about
// other sessions only, and ends once.
func TestOthersEndMeanwhile(t *testing.T) {
	s := newStage(t, &fake{})
	tr := s.tray()
	first := s.start(nil).Record
	s.until("the first session", func() bool { return s.only().Seen })
	s.blind.Store(true) // to what comes
	s.dir = t.TempDir()
	second := s.start(nil).Record
	s.until("the row of the second", func() bool {
		for _, x := range tr.list(t.Context()) {
			if x.ID == second.ID {
				return true
			}
		}
		return false
	})
	reported := map[string][]string{}
	s.signal(first.Process, proc.Kill)
	s.until("the end of the first", func() bool { tr.countEnds(reported); return len(reported[first.ID]) == 1 })
	for _, x := range tr.core.Snapshot().Sessions() {
		if x.ID == second.ID && (x.Launch == nil || !x.Launch.Unlisted) {
			t.Errorf("%+v, %+v", x, x.Launch)
		}
	}
	s.blind.Store(false)
	s.until("the second session", func() bool {
		tr.core.Refresh(t.Context())
		for _, r := range s.listed() {
			if r.ID == second.ID {
				return r.Seen
			}
		}
		return false
	})
	s.signal(second.Process, proc.Kill)
	s.until("the end of the second", func() bool { tr.countEnds(reported); return len(reported[second.ID]) > 0 })
	tr.core.Refresh(t.Context())
	tr.core.Refresh(t.Context())
	tr.events.Close()
	<-tr.reading
	if tr.countEnds(reported); len(reported[second.ID]) != 1 || len(reported) != 2 {
		t.Errorf("ends reported: %q", reported)
	}
}

// TestNoLongerListed checks that a session whose storage was removed is not shown as working.
func TestNoLongerListed(t *testing.T) {
	s := newStage(t, &fake{})
	tr := s.tray()
	r := s.start(nil).Record
	s.until("the session", func() bool { return s.only().Seen })
	must.Do(t, os.RemoveAll(s.store))
	list := tr.list(t.Context())
	if len(list) != 1 || list[0].Status == adapters.Working && list[0].Stale == nil || list[0].Process != r.Process {
		t.Errorf("listed %+v", list)
	}
}
