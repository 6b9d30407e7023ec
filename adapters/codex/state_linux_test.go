package codex

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
)

// The newest state database is found in a folder whose name has a meaning in patterns.
func TestNewestStateInAnyFolder(t *testing.T) {
	for _, name := range []string{"plain", `a\b`, "a*b", "a?b", "[ab]"} {
		dir := filepath.Join(t.TempDir(), name)
		must.Do(t, os.Mkdir(dir, 0o755))
		for _, file := range []string{"state_4.sqlite", "state_12.sqlite", "state_x.sqlite", "state_13.sqlite-wal"} {
			must.Do(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
		}
		if got := newestState([]string{filepath.Join(dir, "none"), dir}); got != filepath.Join(dir, "state_12.sqlite") {
			t.Errorf("%q: %q", name, got)
		}
	}
}
