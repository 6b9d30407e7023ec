package adaptertest

import (
	"syscall"
	"testing"
	"time"

	"rollcall/internal/must"
)

// MakePipe makes a named pipe, to which nothing writes, in the place of an agent's file.
func MakePipe(t *testing.T, path string) {
	t.Helper()
	must.Do(t, syscall.Mkfifo(path, 0o600))
}

// PipeIsNotWaitedFor checks that functions that read where a pipe is return, and that each reports that it found nothing.
func PipeIsNotWaitedFor(t *testing.T, reads map[string]func() (found bool)) {
	t.Helper()
	for name, read := range reads {
		done := make(chan bool, 1)
		go func() { done <- read() }()
		select {
		case found := <-done:
			if found {
				t.Errorf("%s: a pipe was read", name)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s waits for a pipe", name)
		}
	}
}
