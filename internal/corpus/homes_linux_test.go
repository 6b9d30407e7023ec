package corpus_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/internal/agentname"
	"rollcall/internal/corpus"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestNamedHomes: an agent whose files are in a home that the user named lists the sessions that it had listed in its own.
func TestNamedHomes(t *testing.T) {
	for name, folder := range map[adapters.Name]string{agentname.ClaudeCode: ".claude", agentname.Codex: ".codex",
		agentname.OpenCode: ".local/share/opencode", agentname.Pi: ".pi/agent", agentname.PiRust: ".pi/agent"} {
		t.Run(string(name), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "corpus")
			if _, err := corpus.Write(dir, corpus.Options{Sessions: 40, Seed: 11, Now: time.Now(), Scale: 0.01}); err != nil {
				t.Fatal(err)
			}
			home, other := filepath.Join(dir, "home"), filepath.Join(t.TempDir(), "other")
			table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
			everyAdapter(t, table, home) // clears the environment
			listed := func(named ...string) (ids []string) {
				cfg := all.Config{Home: home, Homes: func(n adapters.Name) []string {
					if n == name {
						return named
					}
					return nil
				}}
				list := all.New(table, cfg)
				a := list[slices.IndexFunc(list, func(a adapters.Adapter) bool { return a.Name() == name })]
				roll, err := a.Discover(t.Context(), adapters.Query{Once: true})
				if err != nil && !errors.Is(err, adapters.ErrAbsent) {
					t.Fatal(err)
				}
				for i := range roll.Sessions {
					ids = append(ids, roll.Sessions[i].ID)
				}
				slices.Sort(ids)
				return ids
			}
			want := listed()
			must.Do(t, os.Rename(filepath.Join(home, folder), other))
			if gone := listed(); len(want) == 0 || len(gone) > 0 {
				t.Fatalf("%d sessions before, %d without a home", len(want), len(gone))
			}
			if got := listed(other, filepath.Join(dir, "missing")); !slices.Equal(got, want) {
				t.Errorf("%d sessions, want %d", len(got), len(want))
			}
		})
	}
}
