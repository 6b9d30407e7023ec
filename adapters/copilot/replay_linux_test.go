package copilot

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

const recordings = "testdata/recordings/copilot-*"

func newAdapter(cfg adapters.Config) adapters.Adapter { return New(cfg) }

func TestRecordings(t *testing.T) { adaptertest.Recordings(t, recordings, 19, newAdapter) }

func TestClockSteps(t *testing.T) { adaptertest.ClockSteps(t, recordings, 19, newAdapter) }

func TestProcessesInContainer(t *testing.T) { adaptertest.InContainer(t, recordings, 19, newAdapter) }

// The file that a process holds says that it began no later than it did, not that it began after the turn: it may be touched.
func TestHeldFileIsTouched(t *testing.T) {
	r := adaptertest.Replay(t, "testdata/recordings/copilot-1.0.102-permission")
	files, _ := fs.Glob(os.DirFS(r.Home), ".copilot/session-state/*/inuse.*.hold")
	if len(files) != 1 {
		t.Fatal(files)
	}
	must.Do(t, os.Chtimes(filepath.Join(r.Home, files[0]), r.CapturedAt, r.CapturedAt))
	adaptertest.Check(t, adaptertest.Discover(t, New(r.Config()), adapters.Query{}).Sessions, r.Expect)
}

// A number that no answer can have used counts as none, as with the other agents.
func TestImpossibleTokens(t *testing.T) {
	var f facts
	for i := range 12 {
		must.Do(t, f.Line(fmt.Appendf(nil, `{"type":"session.usage_record","id":"%d","timestamp":"2026-11-25T10:00:00Z",`+
			`"data":{"usage":{"inputTokens":1000000000000000000,"outputTokens":7}}}`, i)))
	}
	if got := f.ledger.Tokens(); got.Input != 0 || got.Output != 84 {
		t.Errorf("%+v", got)
	}
}
