package worktree

import (
	"path/filepath"
	"testing"

	"rollcall/internal/testfs"
)

// A process whose folder does not answer holds up no clean-up.
func TestOccupantThatHangs(t *testing.T) {
	mount := testfs.Mount(t, t.TempDir())
	mount.Hang(t)
	if within(filepath.Join(mount.Path, "work"), t.TempDir()) {
		t.Error("it works in a worktree elsewhere")
	}
	if !within(filepath.Join(mount.Path, "work"), filepath.Dir(mount.Path)) {
		t.Error("it does not work below the folder of its mount")
	}
}
