// Package coverage keeps what each pinned agent can do to a session: a table for each agent, NAME.md, with the flags and sub-commands that its --help names at
// all levels and the commands that it takes in its prompt.
//
// A table begins with the agent and the version that somebody has looked at, and has a line for each feature that makes, moves, shares, ends or names a
// session, or has it wait. The names of all others follow "Not about sessions". Names stand in backticks; below a heading "Read" stand those that no --help
// prints, taken from the program's bundle or its documentation. A flag alone is that flag of the program and of each of its sub-commands; "mcp *" is a
// sub-command with all that is below it.
package coverage

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.md
var tables embed.FS

// Line is what a table says of a feature.
type Line struct {
	Names []string // of the feature, and of those that do the same
	Does  string   // to a session
	Runs  string   // the tests that run it, or why none does
}

// Tests returns the names of the tests that run a feature.
func (l *Line) Tests() []string { return testPattern.FindAllString(l.Runs, -1) }

// Table is what is known of an agent's features.
type Table struct {
	Version string   // that somebody has looked at
	Lines   []Line   // about sessions
	Others  []string // not about sessions
	Read    []string // names in Lines and Others that no help prints
}

var (
	namesPattern = regexp.MustCompile("`([^`]+)`")
	testPattern  = regexp.MustCompile(`\bTest\w+`)
)

// Open returns the table of an agent.
func Open(agent string) (*Table, error) {
	text, err := tables.ReadFile(agent + ".md")
	if err != nil {
		return nil, fmt.Errorf("no table of %s: write internal/agents/coverage/%s.md: %w", agent, agent, err)
	}
	return parse(string(text))
}

func parse(text string) (*Table, error) {
	t, section := &Table{}, ""
	for line := range strings.Lines(text) {
		names := []string{}
		line = strings.TrimSpace(line)
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		switch {
		case strings.HasPrefix(line, "# "):
			words := strings.Fields(line)
			t.Version = words[len(words)-1]
			continue
		case strings.HasPrefix(line, "## "):
			section = line
			continue
		case strings.HasPrefix(line, "| `"):
			if len(cells) != 3 {
				return nil, fmt.Errorf("%q has %d cells, want feature, what it does, run by", line, len(cells))
			}
			names = inTicks(cells[0])
			t.Lines = append(t.Lines, Line{Names: names, Does: strings.TrimSpace(cells[1]), Runs: strings.TrimSpace(cells[2])})
		case strings.HasPrefix(line, "Not about sessions:"):
			names = inTicks(line)
			t.Others = append(t.Others, names...)
		}
		if section == "## Read" {
			t.Read = append(t.Read, names...)
		}
	}
	if t.Version == "" {
		return nil, fmt.Errorf("the first line names no version")
	}
	return t, nil
}

func inTicks(text string) (names []string) {
	for _, m := range namesPattern.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// names returns every name of the table.
func (t *Table) names() []string {
	names := slices.Clone(t.Others)
	for _, l := range t.Lines {
		names = append(names, l.Names...)
	}
	return names
}

// Covers reports whether one of the names stands for a feature.
func Covers(names []string, feature string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		all, everything := strings.CutSuffix(name, " *")
		return name == feature ||
			strings.HasPrefix(name, "-") && strings.HasSuffix(feature, " "+name) ||
			everything && (feature == all || strings.HasPrefix(feature, all+" "))
	})
}

// Closed reports whether a name stands for all that is below a sub-command.
func (t *Table) Closed(command string) bool { return Covers(t.names(), command+" *") }

// Compare returns the features that have no line, and the names whose feature is gone.
func (t *Table) Compare(features []string) (without, gone []string) {
	names := t.names()
	for _, feature := range features {
		if !Covers(names, feature) {
			without = append(without, feature)
		}
	}
	for _, name := range names {
		if !slices.Contains(t.Read, name) && !slices.ContainsFunc(features, func(feature string) bool { return Covers([]string{name}, feature) }) {
			gone = append(gone, name)
		}
	}
	return without, gone
}
