package cline

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

// TestClockSetForward: a turn goes on while the clock is set, and with it the start of its process, which the manifest names by its pid
// alone: what can't be known is unknown. A session whose process is gone stays stopped.
func TestClockSetForward(t *testing.T) {
	w := scene.New(t)
	agent := scene.Cline(w)
	working := agent.Start("/home/dev/proj", "one")
	resumed := agent.Start("/home/dev/third", "three")
	idle := agent.Start("/home/dev/fourth", "four")
	resumed.Answer("fine")
	resumed.Exit()
	resumed.Resume("go on")
	idle.Answer("fine")
	gone := agent.Start("/home/dev/other", "two")
	gone.Kill()
	table := w.Procs.SetClock(time.Hour)
	got := adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: table}), adapters.Query{}).Sessions
	for _, s := range got {
		truth := scene.TruthOf(&s)
		switch s.ID {
		case gone.ID:
			if truth != gone.Truth() {
				t.Errorf("killed: %s; %s", truth, s.Evidence)
			}
		case working.ID, resumed.ID:
			if s.Status != adapters.Working && s.Status != adapters.Unknown {
				t.Errorf("working: %s; %s", truth, s.Evidence)
			}
		case idle.ID:
			if s.Status != adapters.Idle && s.Status != adapters.Unknown {
				t.Errorf("idle: %s; %s", truth, s.Evidence)
			}
		default: // a process
			if s.Status == adapters.Unknown {
				continue
			}
			t.Errorf("%s: %s; %s", s.ID, truth, s.Evidence)
		}
	}
	if len(got) < 4 {
		t.Errorf("%d sessions", len(got))
	}
}

// A session that is asked for alone has the status that it has among all: a terminal that hosts another one has not taken it up.
func TestAskedAlone(t *testing.T) {
	w := scene.New(t)
	agent := scene.Cline(w)
	agent.Start("/home/dev/proj", "one")
	gone := agent.Start("/home/dev/proj", "two")
	gone.Kill()
	got := adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{IDs: []string{gone.ID}}).Sessions
	if len(got) != 1 || scene.TruthOf(&got[0]) != gone.Truth() {
		t.Errorf("%+v", got)
	}
}
