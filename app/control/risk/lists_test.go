package risk

import (
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
	data := must.Get(os.ReadFile(filepath.Join("testdata", name+".txt")))(t)
	var out []string
	for line := range strings.Lines(string(data)) {
		out = append(out, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\NL`, "\n"))
	}
	return out
}

// command returns the reasons of a command of a session in a folder.
func command(folder, text string) []string {
	return Dangers(&adapters.Request{Kind: adapters.AsksCommand, Text: text, Folder: folder}, folder)
}

// TestLists: the shares of what is marked on lists of commands. The third and fourth lists were written after the rules.
func TestLists(t *testing.T) {
	for name, limit := range map[string][2]float64{
		"dangerous-1": {95, 100}, "dangerous-2": {95, 100}, "dangerous-3": {93, 100}, "dangerous-4": {95, 100},
		"harmless-1": {0, 0}, "harmless-2": {0, 1}, "harmless-3": {0, 1}, "harmless-4": {0, 1},
	} {
		list := listed(t, name)
		marked := 0
		for _, text := range list {
			found := command("/home/u/proj", text)
			if len(found) > 0 {
				marked++
			}
			if strings.HasPrefix(name, "dangerous") == (len(found) == 0) {
				t.Logf("%s: %q: %q", name, text, found)
			}
		}
		share := 100 * float64(marked) / float64(len(list))
		t.Logf("%s: %d commands, %.1f %% marked", name, len(list), share)
		if share < limit[0] || share > limit[1] {
			t.Errorf("%s: %.1f %% marked", name, share)
		}
	}
}

// TestExpressions: all regular expressions can be compiled, which each is only once it is needed.
func TestExpressions(t *testing.T) {
	count := len(outputs)
	for _, o := range outputs {
		o()
	}
	for _, list := range rulesOf() {
		for _, r := range list {
			count++
			r.line()
			if r.unless != nil {
				r.unless()
			}
		}
	}
	if count < 300 {
		t.Errorf("%d rules", count)
	}
}
