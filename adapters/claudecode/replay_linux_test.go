package claudecode

import (
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

const recordings = "testdata/recordings/claude-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 15, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings, 15, newAdapter) }

func TestNamed(t *testing.T) { adaptertest.Named(t, recordings, 15, New) }

func TestProcessesInContainer(t *testing.T) { adaptertest.InContainer(t, recordings, 15, newAdapter) }
