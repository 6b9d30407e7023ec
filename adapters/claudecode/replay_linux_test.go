package claudecode

import (
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

const recordings = "testdata/recordings/claude-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 14, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings, 14, newAdapter) }

func TestNamed(t *testing.T) { adaptertest.Named(t, recordings, 14, New) }

func TestProcessesInContainer(t *testing.T) { adaptertest.InContainer(t, recordings, 14, newAdapter) }
