package openclaw

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A named pipe in the place of a transcript is not waited for.
func TestPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "transcript.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes runOutcomes
	for name, reads := range map[string]func() bool{
		"opening": func() bool { return readOpening(path) != opening{} },
		"outcome": func() bool { return outcomes.of(path, info) != "" },
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
