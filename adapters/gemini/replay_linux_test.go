package gemini

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

const recordings = "testdata/recordings/gemini-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 18, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings, 18, newAdapter) }

func TestProcessesInContainer(t *testing.T) { adaptertest.InContainer(t, recordings, 18, newAdapter) }

func TestConformance(t *testing.T) {
	adaptertest.Conformance(t, adaptertest.Subject{
		Agent: scene.Gemini,
		New: func(w *scene.Environment) adapters.Adapter {
			later := func() time.Time { return time.Now().Add(quick) } // an answer of this moment may go on with a call
			return New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: w.NamedHomes, Now: later})
		},
		Exempt: map[string]string{"socket hangs": "it has no socket"},
	})
}
