package claudecode

import (
	"path/filepath"
	"slices"
	"testing"

	"rollcall/internal/adaptertest"
)

// Every session of every recording is named by the beginning of its id, and by
// no other.
func TestNamed(t *testing.T) {
	dirs, err := filepath.Glob("testdata/recordings/claude-*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d recordings, %v", len(dirs), err)
	}
	for _, dir := range dirs {
		r := adaptertest.Replay(t, dir)
		adaptertest.Untouched(t, r.Home)
		a := New(r.Config())
		for _, s := range r.Expect.Sessions {
			for _, prefix := range []string{s.ID, s.ID[:len(s.ID)-4], ""} {
				ids, err := a.Named(t.Context(), prefix)
				if err != nil || !slices.Contains(ids, s.ID) {
					t.Errorf("%s: %q names %v, %v", filepath.Base(dir), prefix, ids, err)
				}
			}
			if ids, err := a.Named(t.Context(), "x"+s.ID); err != nil || len(ids) > 0 {
				t.Errorf("another prefix names %v, %v", ids, err)
			}
		}
	}
}
