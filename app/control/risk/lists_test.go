package risk

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// listed returns the commands of a file, one a line; `\NL` is a line break.
func listed(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	must.Do(t, err)
	var out []string
	for line := range strings.Lines(string(data)) {
		out = append(out, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\NL`, "\n"))
	}
	return out
}

// command judges a command of a session in a folder.
func command(folder, text string) Judgement {
	return judgeNow(context.Background(), &adapters.Request{Kind: adapters.AsksCommand, Text: text, Folder: folder}, folder)
}

// project makes a folder as sessions work in.
func project(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	for _, d := range []string{"src", "docs", "scripts", ".git/hooks", ".github/workflows"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	return dir
}

// TestLists: the shares of what is marked, and of what one key allows, on lists of commands. The third and fourth lists were written after the rules; what the
// rules did to them first was 94 % and 1.5 %, and 94.6 % and 0.4 %.
func TestLists(t *testing.T) {
	for name, limit := range map[string]struct{ marked, oneKey [2]float64 }{
		"dangerous-1": {[2]float64{97, 100}, [2]float64{0, 0}}, "dangerous-2": {[2]float64{97, 100}, [2]float64{0, 0}}, "dangerous-3": {[2]float64{97, 100}, [2]float64{0, 0}},
		"dangerous-4": {[2]float64{98, 100}, [2]float64{0, 0}}, "harmless-4": {[2]float64{0, 1}, [2]float64{55, 100}},
		"harmless-1": {[2]float64{0, 0}, [2]float64{40, 100}}, "harmless-2": {[2]float64{0, 1}, [2]float64{45, 100}}, "harmless-3": {[2]float64{0, 1}, [2]float64{25, 100}},
	} {
		dir := project(t)
		list := listed(t, name)
		marked, oneKey := 0, 0
		for _, text := range list {
			v := command(dir, strings.ReplaceAll(text, "/home/u/proj", dir))
			if len(v.Dangers) > 0 {
				marked++
			}
			if v.Harmless {
				oneKey++
			}
			if bad := strings.HasPrefix(name, "dangerous"); bad && v.Harmless || bad == (len(v.Dangers) == 0) {
				t.Logf("%s: %q: %+v", name, text, v)
			}
		}
		m, o := 100*float64(marked)/float64(len(list)), 100*float64(oneKey)/float64(len(list))
		t.Logf("%s: %d commands, %.1f %% marked, %.1f %% with one key", name, len(list), m, o)
		if m < limit.marked[0] || m > limit.marked[1] || o < limit.oneKey[0] || o > limit.oneKey[1] {
			t.Errorf("%s: %.1f %% marked, %.1f %% with one key", name, m, o)
		}
	}
}

// TestExpressions: all regular expressions can be compiled, which each is only once it is needed.
func TestExpressions(t *testing.T) {
	if len(expressions) < 60 {
		t.Errorf("%d regular expressions", len(expressions))
	}
	for _, e := range expressions {
		e.compiled()
	}
}
