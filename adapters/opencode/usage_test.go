package opencode

import (
	"path/filepath"
	"testing"

	"rollcall/adapters"
)

// A question without usage keeps what is known of the usage of sessions that did not change.
func TestUsageIsKept(t *testing.T) {
	s := newStore(t, tables)
	at := nowMillis() - 60_000
	still, goesOn := s.session(at), s.session(at)
	for _, id := range []string{still, goesOn} {
		s.message(id, at, userData, textPart)
		s.message(id, at+1, doneData)
	}
	a := alone(s)
	known := func() (of map[string]bool) {
		t.Helper()
		now, ok := a.databases.Get(filepath.Join(s.data, "opencode.db"))
		if !ok {
			t.Fatal("nothing was read of the database")
		}
		of = map[string]bool{}
		for id, f := range now.sessions {
			of[id] = f.logged
		}
		return of
	}
	before, _, err := asked(t, a, adapters.Query{Usage: true, Totals: true})
	if of := known(); err != nil || !of[still] || !of[goesOn] {
		t.Fatalf("%v, %v", of, err)
	}
	s.message(goesOn, at+2, userData, textPart)
	s.message(goesOn, at+3, doneData)
	if _, _, err := asked(t, a, adapters.Query{}); err != nil {
		t.Fatal(err)
	}
	if of := known(); !of[still] || of[goesOn] {
		t.Errorf("after a question without usage that of these is known: %v", of)
	}
	after, _, err := asked(t, a, adapters.Query{Usage: true, Totals: true})
	turns := func(session adapters.Session) (n int) {
		for _, u := range session.Usage {
			n += u.Turns
		}
		return n
	}
	if err != nil || turns(before[still]) != 1 || turns(after[still]) != 1 || turns(after[goesOn]) != 2 {
		t.Errorf("%v, before %+v\nafter %+v", err, before, after)
	}
}
