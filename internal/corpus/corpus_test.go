package corpus_test

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/adapters/claudecode"
	"rollcall/adapters/codex"
	"rollcall/internal/corpus"
	"rollcall/proc"
)

// TestAdaptersFindAll holds the adapters against the manifest: every session,
// none twice, nothing invented.
func TestAdaptersFindAll(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the corpus's process table is in the form of Linux")
	}
	dir := filepath.Join(t.TempDir(), "corpus")
	now := time.Now()
	man, err := corpus.Write(dir, corpus.Options{Sessions: 200, Live: 10, Seed: 7, Now: now, Scale: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
	home, env := filepath.Join(dir, "home"), func(string) string { return "" }
	got := map[string]adapters.Session{}
	for _, a := range []adapters.Adapter{
		claudecode.New(claudecode.Config{Home: home, Env: env, Table: table}),
		codex.New(codex.Config{Home: home, Env: env, Table: table}),
	} {
		roll, err := a.Discover(context.Background(), adapters.Query{Totals: true})
		if err != nil {
			t.Errorf("%s: %v", a.Name(), err)
		}
		for _, s := range roll.Sessions {
			if _, twice := got[s.ID]; twice {
				t.Errorf("session %s is listed twice", s.ID)
			}
			got[s.ID] = s
		}
	}
	for _, want := range man.Sessions {
		s, ok := got[want.ID]
		if !ok {
			t.Errorf("%s session %s is missing", want.Agent, want.ID)
			continue
		}
		delete(got, want.ID)
		is := corpus.Truth{ID: s.ID, Agent: s.Agent, Status: s.Status, PID: s.Process.PID, CWD: s.CWD, Branch: s.Branch, Model: s.Model, Prompt: s.FirstPrompt, Tokens: s.Tokens}
		if d := cmp.Diff(want, is); d != "" {
			t.Errorf("%s (-want +got):\n%s", want.ID, d)
		}
	}
	for id := range got {
		t.Errorf("session %s is not in the manifest", id)
	}
}
