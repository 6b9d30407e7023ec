package cleanup

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/app/store"
	"rollcall/internal/must"
)

func TestNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	if n := store.HardLinks(path, nil); n != 1 {
		t.Errorf("%d names, want 1", n)
	}
	if err := os.Link(path, path+"2"); err != nil {
		t.Skip("no hard links here:", err)
	}
	if n := store.HardLinks(path, nil); n != 2 {
		t.Errorf("%d names, want 2", n)
	}
	if n := store.HardLinks(path+"3", nil); n < 2 {
		t.Errorf("a missing file has %d names", n)
	}
	if why, err := checkSteps(filepath.Dir(path), path); err != nil || why == "" {
		t.Errorf("a file with two names: %q, %v", why, err)
	}
}
