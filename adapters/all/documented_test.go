package all

import (
	"os"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// documents are where the documents speak of each agent: a line that begins as one of begins, after which comes its title, or its name in backquotes.
var documents = []struct {
	path    string
	section string // that the line is in; empty: anywhere
	byName  bool
	exempt  map[adapters.Name]string
}{
	{path: "README.md", section: "| agent | from |"},
	{path: "docs/adding-an-agent.md", section: "| agent | floor |", exempt: map[adapters.Name]string{"pi-rust": "it was never run, so that it has no floor"}},
	{path: "docs/architecture.md", section: "### Where truth comes from", exempt: map[adapters.Name]string{"kilo": "it is OpenCode's, renamed"}},
	{path: "docs/platforms.md", section: "| agent | version | seen |", exempt: map[adapters.Name]string{"pi-rust": "it was never run"}},
	{path: "docs/settings.md", section: "| agent | what a home is |", byName: true},
	{path: "docs/security.md", section: "The sources of each agent:"},
}

// TestDocumented: each agent whose files are read has its rows: what its floor is, what was run, where its truth comes from, what a home is and what is read.
func TestDocumented(t *testing.T) {
	for _, place := range documents {
		text, err := os.ReadFile("../../" + place.path)
		must.Do(t, err)
		_, section, found := strings.Cut(string(text), place.section)
		if !found {
			t.Errorf("%s has no %q", place.path, place.section)
		}
		section, _, _ = strings.Cut(section, "\n\n")
		for _, name := range readAgents() {
			d, _ := adapters.Describe(name)
			what := d.Title
			if place.byName {
				what = "`" + string(name) + "`"
			}
			why, isExempt := place.exempt[name]
			if has := isListed(section, what); has == isExempt {
				t.Errorf("%s, after %q: a line for %s: %v, want %v %s", place.path, place.section, what, has, !isExempt, why)
			}
		}
	}
}

// readAgents returns the agents of which more than the name is known.
func readAgents() (list []adapters.Name) {
	for _, a := range New(proc.Open(), Config{Home: "/nonexistent"}) {
		if _, can := a.(adapters.Peeker); can {
			list = append(list, a.Name())
		}
	}
	return list
}

// isListed reports whether a line of a table or a list begins with an agent, alone or with others: "| Pi, pi_agent_rust |", "- Pi and pi_agent_rust:".
func isListed(section, what string) bool {
	for line := range strings.Lines(section) {
		begin, _, _ := strings.Cut(strings.TrimLeft(line, "|- "), map[bool]string{true: ":", false: "|"}[strings.HasPrefix(line, "- ")])
		of := strings.FieldsFunc(strings.ReplaceAll(begin, " and ", ","), func(r rune) bool { return r == ',' })
		if slices.ContainsFunc(of, func(one string) bool {
			one = strings.TrimSpace(one)
			return one == what || one == what+" CLI"
		}) {
			return true
		}
	}
	return false
}
