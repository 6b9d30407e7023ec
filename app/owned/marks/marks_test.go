package marks

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// TestChange: a note is kept for its session of its agent alone, seen by others that read the folder, and gone once it is empty.
func TestChange(t *testing.T) {
	state := t.TempDir()
	m, other := In(state), In(state)
	name := func(text string) func(*app.Mark) { return func(x *app.Mark) { x.Name = text } }
	of := func(want map[string]app.Mark) {
		t.Helper()
		for _, reader := range []*Marks{m, other} {
			if got, err := reader.Of(agentname.Codex); err != nil || !maps.Equal(got, want) {
				t.Fatalf("got %v, %v; want %v", got, err, want)
			}
		}
	}
	change := func(session string, f func(*app.Mark)) {
		t.Helper()
		must.Do(t, m.Change(t.Context(), agentname.Codex, session, f))
	}
	of(map[string]app.Mark{})
	if entries, _ := os.ReadDir(state); len(entries) > 0 {
		t.Errorf("reading created %v", entries)
	}
	change("a", name("  The\x1b[31m parser\n"))
	change("a", func(x *app.Mark) { x.Pinned = true })
	of(map[string]app.Mark{"a": {Name: "The parser", Pinned: true}})
	if got, _ := m.Of(agentname.ClaudeCode); len(got) > 0 {
		t.Errorf("another agent has %v", got)
	}
	change("a", name(strings.Repeat("x", 5000)))
	if got, _ := m.Of(agentname.Codex); len(got["a"].Name) > 130 {
		t.Errorf("a name of %d bytes", len(got["a"].Name))
	}
	change("a", func(x *app.Mark) { *x = app.Mark{} })
	of(map[string]app.Mark{})
}

// TestManyWriters: processes that write at once lose nothing.
func TestManyWriters(t *testing.T) {
	state := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			change := func(x *app.Mark) {
				x.Name += "x"
				x.Pinned = true
			}
			if err := In(state).Change(t.Context(), agentname.Codex, fmt.Sprint(i%2), change); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	want := map[string]app.Mark{"0": {Name: "xxxx", Pinned: true}, "1": {Name: "xxxx", Pinned: true}}
	if got, err := In(state).Of(agentname.Codex); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestDamaged: a damaged file is reported with its path, and the others are read.
func TestDamaged(t *testing.T) {
	state := t.TempDir()
	m := In(state)
	for _, id := range []string{"a", "b"} {
		must.Do(t, m.Change(t.Context(), agentname.Codex, id, func(x *app.Mark) { x.Name = id }))
	}
	path := filepath.Join(state, "marks", fileOf(agentname.Codex, "a")+".json")
	must.Do(t, os.WriteFile(path, []byte("{"), 0o600))
	got, err := m.Of(agentname.Codex)
	if err == nil || !strings.Contains(err.Error(), path) || got["b"].Name != "b" || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}
