package opencode

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// open starts a terminal interface that has the database open.
func (e *elsewhere) open(age time.Duration, args ...string) proc.Identity {
	return e.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev/p", Args: append([]string{"opencode"}, args...),
		Env: []string{"HOME=" + e.home}, Files: []string{filepath.Join(e.data, "opencode.db")}, Started: e.now.Add(-age)})
}

// rows lists which session or row runs in which process.
func (e *elsewhere) rows(t *testing.T, q adapters.Query) map[int]adapters.Session {
	t.Helper()
	sessions, _, err := asked(t, e.adapter, q)
	if err != nil {
		t.Error(err)
	}
	rows := map[int]adapters.Session{}
	for _, s := range sessions {
		if !s.Process.IsZero() {
			rows[s.Process.PID] = s
		}
	}
	return rows
}

// A terminal interface that no session claims has a row of its own until one does.
func TestProcessWithoutSession(t *testing.T) {
	e := newElsewhere(t)
	old := e.session(e.now.Add(-30 * 24 * time.Hour).UnixMilli())
	e.message(old, e.now.Add(-30*24*time.Hour).UnixMilli(), userData, textPart)
	process := e.open(time.Minute)
	got := e.rows(t, adapters.Query{Since: e.now})[process.PID]
	if !got.IsProcess() || got.Status != adapters.Idle || got.Process != process || got.CWD != "/home/dev/p" || got.Shared {
		t.Fatalf("%+v", got)
	}
	if again := e.rows(t, adapters.Query{IDs: []string{got.ID}}); again[process.PID].ID != got.ID || len(again) != 1 {
		t.Errorf("asked by its id: %v", again)
	}
	if other := e.rows(t, adapters.Query{IDs: []string{old}}); len(other) != 0 {
		t.Errorf("another session's question is answered with %v", other)
	}
	id := e.session(e.now.Add(-20 * time.Second).UnixMilli())
	e.message(id, e.now.Add(-20*time.Second).UnixMilli(), userData, textPart)
	if rows := e.rows(t, adapters.Query{}); len(rows) != 1 || rows[process.PID].ID != id || rows[process.PID].Status != adapters.Working {
		t.Errorf("with a session: %v", rows)
	}
	resumed := e.open(30*time.Second, "-s", old)
	if got := e.rows(t, adapters.Query{})[resumed.PID]; got.ID != old || got.Status != adapters.Idle {
		t.Errorf("opened with its id: %s is %s (%s)", got.ID, got.Status, got.Evidence)
	}
	e.fixture.Procs.End(process.PID)
	e.fixture.Procs.End(resumed.PID)
	if rows := e.rows(t, adapters.Query{}); len(rows) != 0 {
		t.Errorf("after the end: %v", rows)
	}
}

// Who may have a session that can't be told, or could not be read, is no process
// without one; nor is a run, a server, or what has its files in a container.
func TestNoRowForProcess(t *testing.T) {
	home := func(e *elsewhere) []string { return []string{"HOME=" + e.home} }
	for name, test := range map[string]struct {
		prepare func(t *testing.T, e *elsewhere)
		fails   bool
	}{
		"either of two could have the session": {prepare: func(t *testing.T, e *elsewhere) {
			e.open(time.Minute)
			e.open(50 * time.Second)
			e.message(e.session(e.now.Add(-20*time.Second).UnixMilli()), e.now.Add(-20*time.Second).UnixMilli(), userData, textPart)
		}},
		"the store can't be read": {prepare: func(t *testing.T, e *elsewhere) {
			e.open(time.Minute)
			e.write("opencode-dev.db", strings.Repeat("no database ", 1000))
		}, fails: true},
		"a run":    {prepare: func(t *testing.T, e *elsewhere) { e.open(time.Second, "run", "hello") }},
		"a server": {prepare: func(t *testing.T, e *elsewhere) { e.open(time.Second, "acp") }},
		"in a container with the same paths": {prepare: func(t *testing.T, e *elsewhere) {
			e.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev/p", Args: []string{"opencode"},
				Env: home(e), Started: e.now.Add(-time.Minute)})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newElsewhere(t)
			test.prepare(t, e)
			roll, err := e.adapter.Discover(t.Context(), adapters.Query{})
			if failed := err != nil && !errors.Is(err, adapters.ErrAbsent); failed != test.fails {
				t.Error(err)
			}
			for _, s := range roll.Sessions {
				if s.IsProcess() {
					t.Errorf("%s: %s", s.ID, s.Evidence)
				}
			}
		})
	}
}

// A row carries the time from which time alone changes it.
func TestRowSaysWhenToAskAgain(t *testing.T) {
	e := newElsewhere(t)
	process := e.open(time.Minute)
	begun := e.now.Add(-2 * time.Second)
	e.session(begun.UnixMilli())
	got := e.rows(t, adapters.Query{})[process.PID]
	if after := got.AskAgain.Sub(begun); got.Status != adapters.Working || after < firstMessageDelay || after > firstMessageDelay+slack {
		t.Errorf("%s (%s), to be asked again %v after its beginning", got.Status, got.Evidence, after)
	}
}
