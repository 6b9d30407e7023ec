package ui

import (
	"fmt"
	"strings"

	"rollcall/app"
	"rollcall/app/present"
)

// agentNames returns the names of the agents whose state matches.
func agentNames(s *app.Snapshot, matches func(app.AdapterState) bool) []string {
	var names []string
	for _, a := range s.Adapters {
		if matches(a.State) {
			names = append(names, present.AgentName(a.Name))
		}
	}
	return names
}

// failedNames returns the names of the agents that could not be read.
func failedNames(s *app.Snapshot) []string {
	return agentNames(s, func(state app.AdapterState) bool { return state == app.Failed })
}

// installed returns the names of the installed agents.
func installed(s *app.Snapshot) []string {
	return agentNames(s, func(state app.AdapterState) bool { return state != app.Absent })
}

func join(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// problemText returns why agents could not be read; empty: all could.
func problemText(s *app.Snapshot) string {
	var lines []string
	for _, a := range s.Adapters {
		if a.State != app.Failed {
			continue
		}
		why := "could not be read completely"
		if len(a.Problems) > 0 {
			why = present.Cut(short(a.Problems[0]), 180)
		}
		if more := len(a.Problems) - 1; more > 0 {
			why += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, present.AgentName(a.Name)+": "+why)
	}
	for _, t := range s.Troubles {
		lines = append(lines, "Rollcall: "+present.Cut(short(t), 180))
	}
	return strings.Join(lines, "\n")
}
