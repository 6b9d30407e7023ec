package copilot

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

// TestClockSetForward: a turn goes on while the clock is set, and with it the start of its process. A session whose process is gone stays
// stopped.
func TestClockSetForward(t *testing.T) {
	w := scene.New(t)
	working := scene.Copilot(w).Start("/home/dev/proj", "one")
	gone := scene.Copilot(w).Start("/home/dev/other", "two")
	gone.Kill()
	table := w.Procs.SetClock(time.Hour)
	for _, s := range adaptertest.Discover(w, New(adapters.Config{Home: w.Home, Env: w.Env, Table: table}), adapters.Query{}).Sessions {
		want := scene.Truth{Status: adapters.Working}
		if s.ID == gone.ID {
			want = gone.Truth()
		}
		if got := scene.TruthOf(&s); got != want || want.Status == adapters.Working && s.Process != working.Process {
			t.Errorf("%s: %s, process %v, want %s; %s", s.ID, got, s.Process, want, s.Evidence)
		}
	}
}
