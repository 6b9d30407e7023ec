package openclaw

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/adaptertest"
)

// A named pipe in the place of a transcript is not waited for.
func TestPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "transcript.jsonl")
	adaptertest.MakePipe(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes runOutcomes
	adaptertest.PipeIsNotWaitedFor(t, map[string]func() bool{
		"opening": func() bool { return readOpening(path) != opening{} },
		"outcome": func() bool { return outcomes.of(path, info) != "" },
	})
}
