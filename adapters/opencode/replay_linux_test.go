package opencode

import (
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

const recordings = "testdata/recordings/opencode-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 18, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings, 18, newAdapter) }

func TestProcessesInContainer(t *testing.T) { adaptertest.InContainer(t, recordings, 16, newAdapter) }
