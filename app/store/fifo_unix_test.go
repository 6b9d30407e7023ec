//go:build unix

package store

import (
	"errors"
	"syscall"
	"testing"
)

// To open a pipe that nobody writes to would take for ever.
func TestPipe(t *testing.T) {
	f := In(t.TempDir())
	if err := syscall.Mkfifo(f.File("p"), 0o600); err != nil {
		t.Fatal(err)
	}
	var v value
	var d *DamagedError
	if err := f.Read("p", &v); !errors.As(err, &d) || d.Aside == "" {
		t.Error(err)
	}
}
