package harness

import (
	"testing"

	"rollcall/internal/harness/screen"
	"rollcall/internal/must"
)

// TestPictures: the signs of each release tell what its pictures show, and there is one of a turn. Who raises a release
// takes them again: ROLLCALL_HARNESS_PICTURES=/some/folder make harness AGENTS=real.
func TestPictures(t *testing.T) {
	for _, r := range releases[1:] { // the first one is Node
		signs, err := screen.Load(r.Screen())
		must.Do(t, err)
		if signs.Pictures[screen.Working] == "" {
			t.Errorf("%v: no picture of a turn", r)
		}
		for state, text := range signs.Pictures {
			if got, line := signs.Read(text); got != state {
				t.Errorf("%v: the picture of %s is read as %q by %q", r, state, got, line)
			}
		}
	}
}
