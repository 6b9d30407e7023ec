package gemini

import (
	"fmt"
	"os"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestShells: a command in the background is told while its process is a child of the session's and is no younger than the file into which it prints. An MCP server
// has no such file, and a command of the foreground has none yet.
func TestShells(t *testing.T) {
	w := scene.New(t)
	s := scene.Gemini(w).Start("/home/dev/proj", "go")
	s.Answer("started")
	child := func(parent int, ago time.Duration) proc.Identity {
		return w.Procs.Start(scene.Spec{Comm: "bash", Exe: "/bin/bash", CWD: s.CWD, PPID: parent, Env: []string{"GEMINI_CLI=1"}, Started: time.Now().Add(-ago),
			Args: []string{"/usr/bin/bash", "-c", "shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=/tmp/gemini-shell-x/bgpids.tmp\n(\n" +
				"  trap 'jobs -p > \"$_bgpids_file\"' EXIT\nnpm run dev\n)\n__code=$?\nexit $__code"}})
	}
	log := func(p proc.Identity, ago time.Duration) {
		path := w.Path(".gemini", "tmp", "background-processes", fmt.Sprintf("background-%d.log", p.PID))
		w.Write(path, "ready")
		must.Do(t, os.Chtimes(path, time.Time{}, time.Now().Add(-ago)))
	}
	runs := child(s.Process.PID, 10*time.Second)
	log(runs, 5*time.Second)
	log(child(1, 10*time.Second), 5*time.Second)               // of another process
	log(child(s.Process.PID, 10*time.Second), 20*time.Second)  // the file is of an earlier process with its pid
	child(s.Process.PID, 10*time.Second)                       // an MCP server
	later := func() time.Time { return time.Now().Add(quick) } // an answer of this moment may go on with a call
	want := func(n int) {
		t.Helper()
		got := adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Now: later}), adapters.Query{}).Sessions[0]
		if len(got.Background) != n || got.Status != adapters.Idle {
			t.Fatalf("want %d in the background, got %s, %+v", n, got.Status, got.Background)
		}
		for _, b := range got.Background {
			if b.What != "npm run dev" || b.Kind != adapters.Running || b.TurnFollows {
				t.Errorf("%+v", b)
			}
		}
	}
	want(1)
	w.Procs.End(runs.PID)
	want(0)
}
