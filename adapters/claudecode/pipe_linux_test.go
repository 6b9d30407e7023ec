package claudecode

import (
	"path/filepath"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

// A named pipe in the place of a transcript, of a registry entry or of a project folder is not waited for.
func TestPipeIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	transcript, entry := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "4711.json")
	for _, path := range []string{transcript, entry} {
		adaptertest.MakePipe(t, path)
	}
	s := adapters.Session{ID: "a", Files: []string{transcript, entry}}
	adaptertest.PipeIsNotWaitedFor(t, map[string]func() bool{
		"open calls": func() bool { _, err := openCallsOf(t.Context(), transcript); return err == nil },
		"result":     func() bool { return resultOf(t.Context(), transcript, "call") != noResult },
		"background": func() bool { return background(&s) },
		"names":      func() bool { names, err := readNames(t.Context(), transcript); return len(names) > 0 || err != nil },
	})
}
