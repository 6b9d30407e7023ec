package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/bounded"
)

// checkLeftOutAgents returns what is wrong with the setting "leave_out_agents", and removes those names and the repeated ones.
func (s *Settings) checkLeftOutAgents() (bad []mistake) {
	var known []adapters.Name
	for _, name := range s.LeftOutAgents {
		if !s.knows(name) {
			bad = append(bad, mistake{[]string{"leave_out_agents"}, fmt.Sprintf("leave_out_agents: unknown agent %q; agents: %s", name, s.agentNames(false))})
		} else if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	s.LeftOutAgents = known
	return bad
}

// checkHomes returns what is wrong with the further homes of agents, and removes those.
func (s *Settings) checkHomes() (bad []mistake) {
	for _, name := range slices.Sorted(maps.Keys(s.Homes)) {
		key := []string{"homes", string(name)}
		if d, ok := adapters.Describe(name); !ok || d.Unread {
			bad = append(bad, mistake{key, fmt.Sprintf("homes.%s is ignored: unknown agent, or one whose files Rollcall does not read; agents: %s", name, readAgentNames())})
			delete(s.Homes, name)
			continue
		}
		s.Homes[name] = without(s.Homes[name], &bad, key, Home.check)
	}
	return bad
}

// readAgentNames returns the names of the agents whose files Rollcall reads.
func readAgentNames() string {
	var names []string
	for _, d := range adapters.Described() {
		names = append(names, string(d.Name))
	}
	return strings.Join(names, ", ")
}

// HomesOf returns the further homes of an agent as absolute paths.
func (s *Settings) HomesOf(name adapters.Name) []string {
	var out []string
	for _, h := range s.Homes[name] {
		out = append(out, filepath.Clean(ExpandHome(h.Path)))
	}
	return out
}

// HomeProblems returns a line for each further home that does not exist or cannot be read. It does not wait for a file system that does
// not answer.
func (s *Settings) HomeProblems() (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Homes)) {
		for _, path := range s.HomesOf(name) {
			if why := homeProblem(path); why != "" {
				lines = append(lines, fmt.Sprintf("%s: %s, a home of the settings (homes.%s), %s", name, path, name, why))
			}
		}
	}
	return lines
}

// homeProblem returns why a home cannot be read; empty: it can.
func homeProblem(path string) string {
	if !bounded.Answers(path) {
		return "is on a file system that does not respond"
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case err == nil && !info.IsDir():
		return "is not a folder"
	case err == nil:
		var dir *os.File
		dir, err = os.Open(path)
		if err == nil {
			_, err = dir.Readdirnames(1)
			_ = dir.Close()
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "cannot be read: give your user read access"
	}
	return ""
}
