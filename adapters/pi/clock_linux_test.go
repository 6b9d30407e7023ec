package pi

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// TestClockSetForward: a turn goes on while the clock is set, and with it the start of its process. No file shows more than that a process of the
// folder has stored nothing since. A session whose process is gone stays stopped.
func TestClockSetForward(t *testing.T) {
	w := scene.New(t)
	agent := scene.Pi(w)
	working, gone := agent.Start("/home/dev/proj", "one"), agent.Start("/home/dev/other", "two")
	gone.Kill()
	table := w.Procs.SetClock(time.Hour)
	rows := 0
	for _, s := range adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: table}), adapters.Query{}).Sessions {
		rows++
		got := scene.TruthOf(&s)
		if s.ID == gone.ID && got != gone.Truth() || s.ID != gone.ID && s.Status != adapters.Unknown {
			t.Errorf("%s: %s; %s", s.ID, got, s.Evidence)
		}
	}
	if rows != 3 { // the sessions, and the process
		t.Errorf("%d rows of %s, %s and a process", rows, working.ID, gone.ID)
	}
}

// A tool names the session of its process, whatever the times of the files say.
func TestToolNamesOldFile(t *testing.T) {
	r := adaptertest.Replay(t, "testdata/recordings/pi-1.5.2-working-tool")
	r.SetClock(t, time.Hour)
	files, _ := fs.Glob(os.DirFS(r.Home), ".pi/agent/sessions/*/*.jsonl")
	for i, path := range files {
		at := r.CapturedAt.Add(-time.Duration(i+1) * time.Hour)
		must.Do(t, os.Chtimes(filepath.Join(r.Home, path), at, at))
	}
	sessions := adaptertest.Discover(t, New(r.Config()), adapters.Query{}).Sessions
	working := 0
	for _, s := range sessions {
		if s.Status == adapters.Working && !adapters.IsProcessID(s.ID) {
			working++
		}
	}
	if working != 1 || len(sessions) != len(r.Expect.Sessions) {
		t.Errorf("%+v", sessions)
	}
}
