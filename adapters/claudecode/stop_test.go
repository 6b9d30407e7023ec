package claudecode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

func TestEndBy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "42.json")
	s := adapters.Session{
		ID: "9830e65d-07df-45de-a5ee-6ab6aa5d19f2", Files: []string{filepath.Join(dir, "t.jsonl"), path},
		Owner: adapters.Owner{Process: proc.Identity{PID: 42, Start: 1}},
	}
	a := New(adapters.Config{Home: dir})
	for kind, bg := range map[string]bool{`"interactive"`: false, `"bg"`: true, `7`: false} {
		must.Do(t, os.WriteFile(path, []byte(`{"pid":42,"kind":`+kind+`}`), 0o600))
		signals, err := a.EndBy(s)
		if bg && (err == nil || !strings.Contains(err.Error(), "claude stop 9830e65d")) {
			t.Errorf("%s: %v, %v; want the agent's own command", kind, signals, err)
		}
		if !bg && (err != nil || !slices.Equal(signals, []proc.Signal{proc.Interrupt, proc.Terminate})) {
			t.Errorf("%s: %v, %v", kind, signals, err)
		}
	}
	s.Files = nil // before the registry
	if signals, err := a.EndBy(s); err != nil || len(signals) != 2 {
		t.Errorf("no registry: %v, %v", signals, err)
	}
}
