package adaptertest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// ClockSetForward checks an agent whose files show which process has a session whatever the clock says: a turn goes on while the clock is set,
// and with it the start of its process. A session whose process is gone stays stopped.
func ClockSetForward(t *testing.T, play func(*scene.Environment) scene.Agent, open func(adapters.Config) adapters.Adapter) {
	w := scene.New(t)
	agent := play(w)
	working, gone := agent.Start("/home/dev/proj", "one"), agent.Start("/home/dev/other", "two")
	gone.Kill()
	want := map[string]scene.Truth{working.ID: {Status: adapters.Working}, gone.ID: gone.Truth()}
	table := w.Procs.SetClock(time.Hour)
	for _, s := range Discover(t, open(adapters.Config{Home: w.Home, Env: w.Env, Table: table}), adapters.Query{}).Sessions {
		if got := scene.TruthOf(&s); got != want[s.ID] || s.Live() && s.Process != working.Process {
			t.Errorf("%s: %s, process %v, want %s; %s", s.ID, got, s.Process, want[s.ID], s.Evidence)
		}
		delete(want, s.ID)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

// SetClock sets the clock of a recorded machine forward, or back: the starts of its processes move, and what was written stays.
func (r *Recording) SetClock(t testing.TB, by time.Duration) {
	t.Helper()
	path := filepath.Join(r.ProcRoot, "stat")
	text := must.Get(os.ReadFile(path))(t)
	var boot int64
	before, after, _ := strings.Cut(string(text), "btime ")
	if _, err := fmt.Sscan(after, &boot); err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.WriteFile(path, fmt.Appendf(nil, "%sbtime %d\n", before, boot+int64(by.Seconds())), 0o600))
	r.Table = proc.OpenAt(r.ProcRoot, r.EtcRoot)
}

// ownFiles gives the processes what they made for themselves right after their start and was not recorded: a program of Node.js or Bun a pipe, Codex
// 0.169 a lock in a folder of its own. Claude Code's own program makes nothing.
func (r *Recording) ownFiles(t testing.TB) {
	t.Helper()
	processes := must.Get(r.Table.List(t.Context()))(t)
	for _, p := range processes {
		at := p.Started.Add(200 * time.Millisecond)
		exe, _ := r.Table.Exe(p.Identity)
		switch filepath.Base(exe) {
		case "claude", "claude.exe":
		case "codex", "codex-acp":
			files := must.Get(r.Table.OpenFiles(p.Identity))(t)
			for _, path := range files {
				if filepath.Base(path) == ".lock" {
					must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)))
				}
			}
		default:
			scene.OwnPipe(t, filepath.Join(r.ProcRoot, strconv.Itoa(p.PID)), at)
		}
	}
}

// clockSteps checks that nothing definite and wrong is said of a recording after its clock was set: what only the start of a process shows
// is unknown.
func clockSteps(t *testing.T, dir string, build func(adapters.Config) adapters.Adapter) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		t.Run("clock set by "+by.String(), func(t *testing.T) {
			r := Replay(t, dir)
			r.ownFiles(t)
			r.SetClock(t, by)
			cfg := r.Config()
			cfg.Now = func() time.Time { return r.CapturedAt.Add(time.Hour) } // after it was set back, the clock has caught up
			listed := map[string]adapters.Session{}
			for _, s := range Discover(t, build(cfg), adapters.Query{}).Sessions {
				listed[s.ID] = s
			}
			for _, want := range r.Expect.Sessions {
				got, ok := listed[want.ID]
				if status := string(got.Status); !ok || status != want.Status && got.Status != adapters.Unknown && !slices.Contains(want.AlsoAccepted, status) {
					t.Errorf("%s: %s, want %s or unknown; %s", want.ID, status, want.Status, got.Evidence)
				}
			}
		})
	}
}
