package opencode

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// elsewhere is a store in another place than the user's own, and a user who has none.
type elsewhere struct {
	*store
	fixture *scene.Environment
	adapter *Adapter
	now     time.Time
}

func newElsewhere(t *testing.T) *elsewhere {
	e := &elsewhere{store: newStore(t, tables), fixture: scene.New(t), now: time.Now()}
	e.adapter = New(adapters.Config{Home: e.fixture.Home, Env: e.fixture.Env, Table: e.fixture.Table, Now: func() time.Time { return e.now }})
	return e
}

func (e *elsewhere) start(age time.Duration, env ...string) proc.Identity {
	return e.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev/p", Args: []string{"opencode"},
		Env: append([]string{"HOME=" + e.fixture.Home}, env...), Started: e.now.Add(-age)})
}

// A process that begins while Rollcall runs may keep its sessions elsewhere: they
// are listed and watched from the next look on, and stay listed for a day after
// the process ended.
func TestHomeElsewhere(t *testing.T) {
	for name, test := range map[string]struct {
		env  func(e *elsewhere) []string
		data func(e *elsewhere) string // what is watched and looked at
	}{
		"XDG_DATA_HOME": {func(e *elsewhere) []string { return []string{"XDG_DATA_HOME=" + filepath.Dir(e.data)} },
			func(e *elsewhere) string { return e.data }},
		"HOME": {func(e *elsewhere) []string { return []string{"HOME=" + e.home} }, func(e *elsewhere) string { return e.data }},
		"OPENCODE_DB": {func(e *elsewhere) []string {
			must.Do(e, os.MkdirAll(e.fixture.Path(".local", "share", "opencode"), 0o755))
			return []string{"OPENCODE_DB=" + filepath.Join(e.data, "opencode.db")}
		}, func(e *elsewhere) string { return e.data }},
	} {
		t.Run(name, func(t *testing.T) {
			e := newElsewhere(t)
			env := test.env(e)
			if _, roll, _ := asked(t, e.adapter, adapters.Query{}); len(roll.Sessions) > 0 {
				t.Fatalf("listed before anything ran there: %v", roll.Sessions)
			}
			var process proc.Identity
			if name == "HOME" {
				process = e.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev/p",
					Args: []string{"opencode"}, Env: env, Started: e.now.Add(-time.Minute)})
			} else {
				process = e.start(time.Minute, env...)
			}
			id := e.session(e.now.Add(-50 * time.Second).UnixMilli())
			e.message(id, e.now.Add(-40*time.Second).UnixMilli(), userData, textPart)
			e.message(id, e.now.Add(-39*time.Second).UnixMilli(), openData)
			want := func(state string, process proc.Identity) {
				t.Helper()
				sessions, roll, err := asked(t, e.adapter, adapters.Query{})
				got := sessions[id]
				if is := string(got.Status) + "/" + string(got.Outcome); err != nil || is != state || got.Process != process {
					t.Errorf("%s in %v (%s), %v, want %s in %v", is, got.Process, got.Evidence, err, state, process)
				}
				if watched := e.adapter.WatchPaths(); !slices.Contains(watched, test.data(e)) {
					t.Errorf("watched: %v", watched)
				}
				if !slices.Contains(roll.LookedIn, filepath.Join(test.data(e), "opencode.db")) {
					t.Errorf("looked in: %v", roll.LookedIn)
				}
			}
			want("working/", process)
			e.fixture.Procs.End(process.PID)
			e.now = e.now.Add(23 * time.Hour)
			want("stopped/died", proc.Identity{})
			e.now = e.now.Add(2 * time.Hour)
			if sessions, _, _ := asked(t, e.adapter, adapters.Query{}); len(sessions) > 0 {
				t.Errorf("listed a day later: %v", sessions)
			}
		})
	}
}

// A process that has yet to make its data folder has none of the user's sessions,
// and the place is looked at.
func TestHomeNotMadeYet(t *testing.T) {
	e := newElsewhere(t)
	mine := New(adapters.Config{Home: e.home, Env: func(string) string { return "" }, Table: e.fixture.Table, Now: func() time.Time { return e.now }})
	id := e.session(e.now.UnixMilli())
	e.message(id, e.now.UnixMilli(), userData, textPart)
	other := filepath.Join(e.fixture.Home, "data")
	must.Do(t, os.Mkdir(other, 0o755))
	e.start(time.Second, "XDG_DATA_HOME="+other)
	sessions, roll, err := asked(t, mine, adapters.Query{})
	if got := sessions[id]; err != nil || got.Status != adapters.Stopped {
		t.Errorf("%s (%s), %v", got.Status, got.Evidence, err)
	}
	if !slices.Contains(roll.LookedIn, filepath.Join(other, "opencode")) {
		t.Errorf("looked in: %v", roll.LookedIn)
	}
	missing := filepath.Join(other, "mine.db")
	e.start(time.Minute, "HOME="+e.home, "OPENCODE_DB="+missing)
	_, roll, err = asked(t, mine, adapters.Query{})
	if err != nil || !slices.Contains(roll.LookedIn, missing) || !slices.Contains(mine.WatchPaths(), other) {
		t.Errorf("%v: looked in %v, watched %v", err, roll.LookedIn, mine.WatchPaths())
	}
}
