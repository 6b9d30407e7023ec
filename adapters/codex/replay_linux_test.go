package codex

import (
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings+"/codex-*", 7, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings+"/codex-*", 7, newAdapter) }

func TestNamed(t *testing.T) { adaptertest.Named(t, recordings+"/codex-*", 7, New) }

func TestProcessesInContainer(t *testing.T) {
	adaptertest.InContainer(t, recordings+"/codex-*", 7, newAdapter)
}
