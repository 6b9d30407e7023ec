package cline

import (
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

const recordings = "testdata/recordings/cline-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 12, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings, 12, newAdapter) }

func TestProcessesInContainer(t *testing.T) { adaptertest.InContainer(t, recordings, 12, newAdapter) }

func TestConformance(t *testing.T) {
	adaptertest.Conformance(t, adaptertest.Subject{
		Agent: scene.Cline,
		New: func(w *scene.Environment) adapters.Adapter {
			return New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: w.NamedHomes})
		},
		Exempt: map[string]string{
			"socket hangs": "it is asked over a socket only to answer",
			"torn":         "each file is written as a whole",
		},
	})
}
