package claudecode

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// TestAttach: a session of claude --bg is attached to by its short id, if it is in the settings' folder that the command reads.
func TestAttach(t *testing.T) {
	home := t.TempDir()
	entry := func(root, text string) adapters.Session {
		t.Helper()
		path := filepath.Join(root, "sessions", "4711.json")
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return adapters.Session{ID: "01981f2e-aaaa-4bbb-8ccc-123456789abc", Files: []string{filepath.Join(root, "projects", "x.jsonl"), path}}
	}
	a := New(adapters.Config{Home: home, Env: func(string) string { return "" }})
	for text, want := range map[string][]string{
		`{"kind":"bg","jobId":"7f3a9c21"}`:        {"attach", "7f3a9c21"},
		`{"kind":"bg"}`:                           {"attach", "01981f2e"},
		`{"kind":"bg","jobId":"--dangerously-x"}`: {"attach", "01981f2e"},
		`{"kind":"interactive"}`:                  nil,
		`{`:                                       nil,
	} {
		c, err := a.Attach(t.Context(), "/bin/claude", entry(filepath.Join(home, ".claude"), text))
		if want == nil && !errors.Is(err, adapters.ErrNoAttach) || want != nil && (err != nil || c.Path != "/bin/claude" || !slices.Equal(c.Args, want)) {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
	if _, err := a.Attach(t.Context(), "/bin/claude", entry(filepath.Join(home, "other"), `{"kind":"bg"}`)); !errors.Is(err, adapters.ErrNoAttach) {
		t.Errorf("a session of another folder of settings: %v", err)
	}
}
