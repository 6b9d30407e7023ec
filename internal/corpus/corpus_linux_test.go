package corpus_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/internal/agentname"
	"rollcall/internal/corpus"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestAdaptersFindAll holds every agent's adapter against the manifest of a small
// corpus, or of that at ROLLCALL_CORPUS: all sessions are there, none twice,
// nothing is invented, and what is said of them is true, the first time and when
// nothing was read since.
func TestAdaptersFindAll(t *testing.T) {
	now := time.Now()
	dir := os.Getenv("ROLLCALL_CORPUS")
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "corpus")
		if _, err := corpus.Write(dir, corpus.Options{Sessions: 300, Live: 40, Gateway: 30, Seed: 7, Now: now, Scale: 0.2}); err != nil {
			t.Fatal(err)
		}
	}
	man := must.Get(corpus.Read(dir))(t)
	gateway := must.Get(corpus.Serve(dir, man))(t)
	defer gateway.Close()
	home := filepath.Join(dir, "home")
	table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
	for _, a := range ofCorpus(everyAdapter(t, table, home)) {
		t.Run(string(a.Name()), func(t *testing.T) {
			want := slices.DeleteFunc(slices.Clone(man.Truths(true)), func(s corpus.Truth) bool { return s.Agent != a.Name() })
			if len(want) == 0 {
				t.Fatal("the corpus has no session of it")
			}
			hold(t, a, adapters.Query{Totals: true}, want)
			hold(t, a, adapters.Query{Totals: true}, want)
			hold(t, a, adapters.Query{Since: now.Add(-time.Hour), Totals: true}, live(want))
			hold(t, a, adapters.Query{IDs: []string{want[len(want)-1].ID}, Totals: true}, want[len(want)-1:])
		})
	}
}

// everyAdapter makes the adapters of all agents for that home, whatever the
// environment of the test says.
func everyAdapter(t testing.TB, table proc.Lister, home string) []adapters.Adapter {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		for _, prefix := range []string{"XDG_", "CLAUDE_", "CODEX_", "OPENCODE_", "OPENCLAW_", "PI_"} {
			if strings.HasPrefix(name, prefix) {
				t.Setenv(name, "")
			}
		}
	}
	list := all.New(table, all.Config{Home: home})
	return slices.DeleteFunc(list, func(a adapters.Adapter) bool { return a.Name() == agentname.Kilo }) // its sessions are read as OpenCode's
}

// ofCorpus leaves out the agents of which the corpus has no sessions.
func ofCorpus(list []adapters.Adapter) []adapters.Adapter {
	has := []adapters.Name{agentname.ClaudeCode, agentname.Codex, agentname.OpenCode, agentname.Pi, agentname.PiRust, agentname.OpenClaw}
	return slices.DeleteFunc(list, func(a adapters.Adapter) bool { return !slices.Contains(has, a.Name()) })
}

// live leaves out what was over an hour ago. What is live in the corpus did
// something within the last minute.
func live(all []corpus.Truth) []corpus.Truth {
	return slices.DeleteFunc(slices.Clone(all), func(s corpus.Truth) bool { return s.Status == adapters.Stopped })
}

// hold compares what an adapter answers with the truth of the sessions asked
// for; an adapter may answer with more.
func hold(t *testing.T, a adapters.Adapter, q adapters.Query, want []corpus.Truth) {
	t.Helper()
	roll, err := a.Discover(context.Background(), q)
	if err != nil {
		t.Errorf("%+v: %v", q, err)
	}
	asked := make(map[string]bool, len(want))
	for i := range want {
		asked[want[i].ID] = true
	}
	whole := q.Since.IsZero() && q.IDs == nil
	var got []corpus.Truth
	for i := range roll.Sessions {
		if whole || asked[roll.Sessions[i].ID] {
			got = append(got, corpus.Of(&roll.Sessions[i]))
		}
	}
	for i, line := range corpus.Compare(want, got) {
		if i == 20 {
			t.Error("…")
			break
		}
		t.Error(line)
	}
}

// TestCompare: the comparison sees what it is for.
func TestCompare(t *testing.T) {
	tokens := func(n int64) *adapters.Tokens { return &adapters.Tokens{Input: n} }
	a := corpus.Truth{ID: "a", Status: adapters.Idle, Tokens: tokens(1)}
	b := corpus.Truth{ID: "b", Status: adapters.Stopped}
	wrong := func(edit func(*corpus.Truth)) []corpus.Truth {
		c := a
		edit(&c)
		return []corpus.Truth{c, b}
	}
	for name, c := range map[string]struct {
		got  []corpus.Truth
		want int
	}{
		"right":       {[]corpus.Truth{b, a}, 0},
		"missing":     {[]corpus.Truth{a}, 1},
		"twice":       {[]corpus.Truth{a, b, a}, 1},
		"invented":    {[]corpus.Truth{a, b, {ID: "c"}}, 1},
		"status":      {wrong(func(c *corpus.Truth) { c.Status = adapters.Working }), 1},
		"tokens":      {wrong(func(c *corpus.Truth) { c.Tokens = tokens(2) }), 1},
		"no tokens":   {wrong(func(c *corpus.Truth) { c.Tokens = nil }), 1},
		"two of them": {wrong(func(c *corpus.Truth) { c.Title, c.PID = "x", 7 }), 2},
	} {
		if got := corpus.Compare([]corpus.Truth{a, b}, c.got); len(got) != c.want {
			t.Errorf("%s: %q, want %d", name, got, c.want)
		}
	}
}
