// Package coverage keeps what each pinned agent can do to a session: a table for each agent, NAME.md, with the flags and sub-commands that its --help names at
// all levels and the commands that it takes in its prompt.
//
// A table begins with the agent and the version that was looked at, and has a line for each feature that makes,
// moves, shares, ends or names a session, or has it wait. The names of all others follow "Not about sessions". Names stand
// in backticks; below a heading "Read" stand those that no --help prints, taken from the program's bundle or its
// documentation, and below "Changelog" those that its changelog of the last six months names beside all these, with the
// versions whose entries on features were read. A flag alone is that flag of the program and of each of its sub-commands; "mcp *" is a
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
	Version   string   // that was looked at
	Lines     []Line   // about sessions
	Others    []string // not about sessions
	Read      []string // names in Lines and Others that no help prints
	Changelog string   // the version for which the changelog was read
	ReadTo    string   // the last version in what was read, an older one where the newest changelog was not at hand
}

var (
	namesPattern     = regexp.MustCompile("`([^`]+)`")
	testPattern      = regexp.MustCompile(`\bTest\w+`)
	changelogPattern = regexp.MustCompile(`^Read for (\S+): from \S+ to (\S+), `)
	sessionPattern   = regexp.MustCompile(`(?i)\b(sessions?|fork\w*|resum\w*|background|daemon|worktrees?|subagents?|` +
		`approv\w+|permissions?|wait\w*|exits?|process(es)?)\b`)
)

// Open returns the table of an agent.
func Open(agent string) (*Table, error) {
	text, err := tables.ReadFile(agent + ".md")
	if err != nil {
		return nil, fmt.Errorf("no table of %s: write internal/agents/coverage/%s.md: %w", agent, agent, err)
	}
	return parse(string(text))
}

// changelogs is the heading of what a changelog names.
const changelogs = "## Changelog"

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
		case section == changelogs:
			if m := changelogPattern.FindStringSubmatch(line); m != nil {
				t.Changelog, t.ReadTo = m[1], m[2]
			}
		}
		if section == "## Read" || section == changelogs {
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

// News returns the entries of a changelog, whose newest version comes first, that were not read: those about sessions, of
// whose names the table has none.
func (t *Table) News(changelog string) (entries []string) {
	names := t.names()
	for line := range strings.Lines(changelog) {
		entry, listed := strings.CutPrefix(strings.TrimSpace(line), "- ")
		covered := slices.ContainsFunc(inTicks(entry), func(name string) bool { return Covers(names, name) })
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" []()\n", r) })
		switch {
		case strings.HasPrefix(line, "## ") && slices.Contains(words, t.ReadTo):
			return entries
		case listed && !covered && sessionPattern.MatchString(entry):
			entries = append(entries, entry)
		}
	}
	return entries
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
