package codex

import (
	"path/filepath"
	"testing"

	"rollcall/internal/adaptertest"
)

// A named pipe in the place of a rollout is not waited for.
func TestPipeIsNotWaitedFor(t *testing.T) {
	rollout := filepath.Join(t.TempDir(), "rollout.jsonl")
	adaptertest.MakePipe(t, rollout)
	adaptertest.PipeIsNotWaitedFor(t, map[string]func() bool{
		"open turn": func() bool { _, err := openTurn(t.Context(), rollout); return err == nil },
		"patch":     func() bool { return patchOf(t.Context(), rollout, "call") != "" },
	})
}
