package qwen

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

const recordings = "testdata/recordings/qwen-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 20, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings, 20, newAdapter) }

func TestProcessesInContainer(t *testing.T) { adaptertest.InContainer(t, recordings, 20, newAdapter) }

func TestConformance(t *testing.T) {
	adaptertest.Conformance(t, adaptertest.Subject{
		Agent: scene.Qwen,
		New: func(w *scene.Environment) adapters.Adapter {
			// A call waits once it is open for longer than a command takes to get its process.
			later := func() time.Time { return time.Now().Add(quick) }
			return New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: w.NamedHomes, Now: later})
		},
		Exempt: map[string]string{"socket hangs": "it has no socket"},
	})
}
