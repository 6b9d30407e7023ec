package grok

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

const recordings = "testdata/recordings/grok-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 15, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings, 15, newAdapter) }

func TestProcessesInContainer(t *testing.T) { adaptertest.InContainer(t, recordings, 15, newAdapter) }

func TestConformance(t *testing.T) {
	adaptertest.Conformance(t, adaptertest.Subject{
		Agent: scene.Grok,
		New: func(w *scene.Environment) adapters.Adapter {
			// A request waits once it is open for longer than Grok Build takes to allow it by itself.
			later := func() time.Time { return time.Now().Add(2 * time.Second) }
			return New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: w.NamedHomes, Now: later})
		},
		Exempt: map[string]string{"socket hangs": "it has no socket"},
	})
}

func TestClockSetForward(t *testing.T) {
	adaptertest.ClockSetForward(t, scene.Grok, newAdapter)
}
