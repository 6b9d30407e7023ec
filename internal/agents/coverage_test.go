//go:build agents && linux

package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/agents/coverage"
	"rollcall/internal/must"
)

// TestCoverage: each feature that an agent's --help names at any level has its line in the agent's table, and no line is of a feature that is gone. What is
// below a sub-command with a star in the table is not asked. And each entry of its changelog about sessions has been read.
func TestCoverage(t *testing.T) {
	s := NewSandbox(t)
	for _, release := range newest {
		t.Run(release.Agent, func(t *testing.T) {
			table := must.Get(coverage.Open(release.Agent))(t)
			if table.Version != release.Version {
				t.Errorf("the table is of %s, not of %s: compare its slash commands and its changelog too", table.Version, release.Version)
			}
			if table.Changelog != release.Version {
				t.Errorf("read the changelog of %s from %s to %s, and write what it says of sessions into internal/agents/coverage/%s.md",
					release.Agent, table.ReadTo, release.Version, release.Agent)
				for _, entry := range table.News(changelog(t, s.Program(release))) {
					t.Errorf("not read in the changelog of %s: %s", release.Agent, entry)
				}
			}
			helps := openHelps(s, release)
			features := coverage.Walk(programOf(release), helps.ask, table.Closed)
			without, gone := table.Compare(features)
			for _, feature := range without {
				t.Errorf("%q has no line in internal/agents/coverage/%s.md", feature, release.Agent)
			}
			for _, name := range gone {
				t.Errorf("internal/agents/coverage/%s.md has a line for %q, which no --help names", release.Agent, name)
			}
			t.Logf("%d features, %d lines, %d names that are not about sessions, %d commands asked", len(features), len(table.Lines), len(table.Others), len(helps.texts))
			must.Do(t, helps.keep())
		})
	}
}

// changelog returns the changelog in the package of a program; empty: it has none.
func changelog(t *testing.T, program string) string {
	dir := filepath.Dir(must.Get(filepath.EvalSymlinks(program))(t))
	for len(dir) > 1 && filepath.Base(dir) != "node_modules" {
		text, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
		if err == nil {
			return string(text)
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// programOf returns what an agent calls itself in its help.
func programOf(r Release) string {
	if name := programNames[r.Agent]; name != "" {
		return name
	}
	return r.Agent
}

// helps are the texts of --help of a release, kept beside its installation: the program is pinned by its hash, and some take seconds for each.
type helps struct {
	s       *Sandbox
	release Release
	path    string
	texts   map[string]string
}

func openHelps(s *Sandbox, r Release) *helps {
	h := &helps{s: s, release: r, path: filepath.Join(r.prefix(s.cache), "help.json"), texts: map[string]string{}}
	if data, err := os.ReadFile(h.path); err == nil {
		must.Do(s.t, json.Unmarshal(data, &h.texts))
	}
	return h
}

// ask returns what a command prints for --help.
func (h *helps) ask(command []string) string {
	key := strings.Join(command, " ")
	if text := h.texts[key]; text != "" {
		return text
	}
	cmd := h.s.run(h.release, append(command, "--help")...)
	cmd.Env = append(cmd.Env, "COLUMNS=200", "NO_COLOR=1")
	output, err := cmd.CombinedOutput()
	if err != nil {
		h.s.t.Logf("%s --help: %v", key, err) // some end so
	}
	h.texts[key] = string(output)
	return h.texts[key]
}

func (h *helps) keep() error {
	data, err := json.Marshal(h.texts)
	if err != nil {
		return err
	}
	return os.WriteFile(h.path, data, 0o644)
}
