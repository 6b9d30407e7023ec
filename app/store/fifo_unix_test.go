//go:build unix

package store

import (
	"errors"
	"syscall"
	"testing"

	"rollcall/internal/must"
)

// To open a pipe that nobody writes to would take for ever.
func TestPipe(t *testing.T) {
	f := In(t.TempDir())
	must.Do(t, syscall.Mkfifo(f.File("p"), 0o600))
	var v value
	var d *DamagedError
	if err := f.Read("p", &v); !errors.As(err, &d) || d.Aside == "" {
		t.Error(err)
	}
}
