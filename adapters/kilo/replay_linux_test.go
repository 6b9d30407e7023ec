package kilo

import (
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

const recordings = "testdata/recordings/kilo-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 5, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings, 5, newAdapter) }

// A terminal interface without a session has no row there: whose files it has open is not known.
func TestProcessesInContainer(t *testing.T) {
	adaptertest.InContainer(t, "testdata/recordings/kilo-7.7.7-[^t]*", 3, newAdapter)
}

func TestConformance(t *testing.T) {
	adaptertest.Conformance(t, adaptertest.Subject{
		Agent: scene.Kilo,
		New: func(w *scene.Environment) adapters.Adapter {
			return New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: w.NamedHomes})
		},
		Whole: "one statement reads all sessions of the database",
		Exempt: map[string]string{"socket hangs": "it is asked as OpenCode is, by the same code",
			"torn": "all sessions lie in one database, which SQLite keeps whole"},
	})
}

// A terminal interface that has no session yet is a row of Kilo, and none of OpenCode.
func TestOpenTerminal(t *testing.T) {
	r := adaptertest.Replay(t, "testdata/recordings/kilo-7.7.7-tui-fresh")
	rows := 0
	for _, s := range adaptertest.Discover(t, New(r.Config()), adapters.Query{}).Sessions {
		if s.IsProcess() {
			rows++
			if s.Agent != Name || s.Process.PID != 24380 || !strings.Contains(s.Evidence, "no session yet") {
				t.Errorf("%+v", s)
			}
		}
	}
	if rows != 1 {
		t.Errorf("%d rows of processes", rows)
	}
}
