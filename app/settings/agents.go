package settings

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/adapters"
)

// checkLeftOutAgents returns what is wrong with the setting "leave_out_agents", and removes those names and the repeated ones.
func (s *Settings) checkLeftOutAgents() (bad []mistake) {
	var known []adapters.Name
	for _, name := range s.LeftOutAgents {
		if _, ok := adapters.Describe(name); !ok {
			bad = append(bad, mistake{[]string{"leave_out_agents"}, fmt.Sprintf("leave_out_agents: unknown agent %q; agents: %s", name, allAgentNames())})
		} else if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	s.LeftOutAgents = known
	return bad
}

// allAgentNames returns the names of all agents, also of those that cannot be launched.
func allAgentNames() string {
	var names []string
	for _, d := range adapters.Described() {
		names = append(names, string(d.Name))
	}
	return strings.Join(names, ", ")
}
