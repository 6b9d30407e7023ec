package openclaw

import (
	"path/filepath"
	"testing"

	"rollcall/internal/adaptertest"
)

// A named pipe in the place of a transcript is not waited for.
func TestPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "transcript.jsonl")
	adaptertest.MakePipe(t, path)
	adaptertest.PipeIsNotWaitedFor(t, map[string]func() bool{
		"opening": func() bool { return readOpening(path) != opening{} },
		"sums":    func() bool { tokens, _ := sumTranscript(t.Context(), path); return tokens != nil },
	})
}
