package codex

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A named pipe in the place of a rollout is not waited for.
func TestPipeIsNotWaitedFor(t *testing.T) {
	rollout := filepath.Join(t.TempDir(), "rollout.jsonl")
	if err := syscall.Mkfifo(rollout, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, reads := range map[string]func() bool{
		"open turn": func() bool { _, err := openTurn(t.Context(), rollout); return err == nil },
		"patch":     func() bool { return patchOf(t.Context(), rollout, "call") != "" },
	} {
		done := make(chan bool, 1)
		go func() { done <- reads() }()
		select {
		case ok := <-done:
			if ok {
				t.Errorf("%s: a pipe was read", name)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s waits for a pipe", name)
		}
	}
}
