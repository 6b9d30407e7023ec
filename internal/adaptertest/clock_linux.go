package adaptertest

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
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
