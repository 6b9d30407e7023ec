package gemini

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

// TestClockSetForward: a turn goes on while the clock is set, and with it the start of its process. A session whose process is gone stays
// stopped. No file shows more than that a process of the folder has no other session.
func TestClockSetForward(t *testing.T) {
	for name, args := range map[string][]string{"terminal": nil, "named": {"--session-id", id("a")}, "resumed": {"--resume", id("a")},
		"resumes": {"--resume", "latest"}, "run": {"-p", "one"}, "host": {"--acp"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.start(20*time.Second, args...)
			w.chat("a", "00", head("a", 15*time.Second), user(9*time.Second, "one"))
			if name != "run" && name != "host" {
				w.logs([3]string{"a", "9500ms", "one"})
			}
			if s := w.sessions()["a"]; s.Status != adapters.Working {
				t.Errorf("before: %s; %s", s.Status, s.Evidence)
			}
			w.Table = w.Procs.SetClock(time.Hour)
			for key, s := range w.sessions() {
				if s.Status != adapters.Unknown && s.Status != adapters.Working {
					t.Errorf("%s: %s %s; %s", key, s.Status, s.Outcome, s.Evidence)
				}
			}
		})
	}
	w := scene.New(t)
	scene.Gemini(w).Start("/home/dev/proj", "one")
	gone := scene.Gemini(w).Start("/home/dev/other", "two")
	gone.Kill()
	for _, s := range adaptertest.Discover(w, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Procs.SetClock(time.Hour)}), adapters.Query{}).Sessions {
		got := scene.TruthOf(&s)
		if s.ID == gone.ID && got != gone.Truth() || s.ID != gone.ID && s.Status != adapters.Unknown && s.Status != adapters.Working {
			t.Errorf("%s: %s; %s", s.ID, got, s.Evidence)
		}
	}
}
