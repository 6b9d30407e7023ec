package notices

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/must"
)

// TestAdd: the last 50 are kept, the newest first; one that replaces another on the screen takes its place; what is damaged does not stop the next one.
func TestAdd(t *testing.T) {
	state := t.TempDir()
	n := In(state)
	if list, err := n.Last(); err != nil || len(list) > 0 {
		t.Fatalf("at first: %v, %v", list, err)
	}
	at := time.Now().Truncate(time.Second)
	for i := range Most + 5 {
		must.Do(t, n.Add(Notice{At: at.Add(time.Duration(i) * time.Second), Key: fmt.Sprint(i), Title: fmt.Sprint(i)}, false))
	}
	must.Do(t, n.Add(Notice{At: at.Add(time.Hour), Key: "53", Title: "corrected"}, true))
	must.Do(t, n.Add(Notice{At: at.Add(time.Hour), Key: "20", Title: "again"}, false))
	list := must.Get(In(state).Last())(t)
	if len(list) != Most || list[0].Title != "again" || list[1].Title != "54" || list[2].Title != "corrected" || !list[2].At.Equal(at.Add(53*time.Second)) {
		t.Errorf("%d: %+v", len(list), list[:3])
	}
	must.Do(t, n.Add(Notice{At: at.Add(-8 * 24 * time.Hour), Key: "old"}, false))
	if list, err := n.Last(); err != nil || len(list) != Most-1 || list[0].Key == "old" {
		t.Errorf("an old one is kept: %d, %v", len(list), err)
	}
	path := filepath.Join(state, "notifications", "told.json")
	must.Do(t, os.WriteFile(path, []byte("{"), 0o600))
	if _, err := n.Last(); err == nil {
		t.Error("a damaged file is an empty list")
	}
	must.Do(t, os.WriteFile(path, []byte("{"), 0o600))
	must.Do(t, n.Add(Notice{At: at, Key: "x"}, false))
	if list, err := n.Last(); err != nil || len(list) != 1 {
		t.Errorf("after a damaged file: %v, %v", list, err)
	}
}

// TestBecame: what became of a notification follows from the sessions of now; what is not known is said to be so.
func TestBecame(t *testing.T) {
	of := func(st adapters.Status) *app.Session {
		return &app.Session{Session: adapters.Session{ID: "a", State: adapters.State{Status: st}}}
	}
	stale := of(adapters.Waiting)
	stale.Stale = &app.Stale{Reason: "codex: no answer in 5 s"}
	wait, reply, again := Notice{Session: "a", Waits: true}, Notice{Session: "a"}, []Notice{{Session: "a"}}
	for _, c := range []struct {
		told     Notice
		now      *app.Session
		later    []Notice
		complete bool
		want     string
	}{
		{wait, of(adapters.Waiting), nil, true, "still waits"},
		{wait, of(adapters.Waiting), []Notice{{Session: "b"}}, true, "still waits"},
		{wait, of(adapters.Waiting), again, true, "answered, or withdrawn by its agent"},
		{wait, of(adapters.Working), nil, true, "answered, or withdrawn by its agent"},
		{wait, of(adapters.Stopped), nil, true, "ended"},
		{wait, of(adapters.Unknown), nil, true, "not known"},
		{wait, stale, nil, true, "not known: codex: no answer in 5 s"},
		{wait, nil, nil, false, "not known: not every agent has been read"},
		{wait, nil, nil, true, "no longer listed"},
		{reply, of(adapters.Idle), nil, true, ""},
		{reply, of(adapters.Working), nil, true, "works again"},
		{reply, of(adapters.Stopped), nil, true, "has ended"},
		{Notice{Waits: true}, nil, nil, true, ""},
	} {
		if got := c.told.Became(c.now, c.later, c.complete); got != c.want {
			t.Errorf("%+v with %+v: %q, want %q", c.told, c.now, got, c.want)
		}
	}
}
