package adaptertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
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
	text, err := os.ReadFile(path)
	must.Do(t, err)
	var boot int64
	before, after, _ := strings.Cut(string(text), "btime ")
	if _, err := fmt.Sscan(after, &boot); err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.WriteFile(path, fmt.Appendf(nil, "%sbtime %d\n", before, boot+int64(by.Seconds())), 0o600))
}
