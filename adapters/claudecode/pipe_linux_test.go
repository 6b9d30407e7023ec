package claudecode

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
)

// A named pipe in the place of a transcript, of a registry entry or of a project folder is not waited for.
func TestPipeIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	transcript, entry := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "4711.json")
	for _, path := range []string{transcript, entry} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := adapters.Session{ID: "a", Files: []string{transcript, entry}}
	for name, reads := range map[string]func() bool{
		"open calls": func() bool { _, err := openCallsOf(t.Context(), transcript); return err == nil },
		"result":     func() bool { return succeeded(transcript, "call") },
		"background": func() bool { return background(&s) },
		"names":      func() bool { names, err := readNames(transcript); return len(names) > 0 || err != nil },
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
