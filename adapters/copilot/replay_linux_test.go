package copilot

import (
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

const recordings = "testdata/recordings/copilot-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 18, newAdapter) }

func TestProcessesInContainer(t *testing.T) { adaptertest.InContainer(t, recordings, 18, newAdapter) }
