package ui

import (
	"fmt"
	"strings"

	"rollcall/app"
	"rollcall/app/present"
)

func failedNames(s *app.Snapshot) []string {
	var names []string
	for _, a := range s.Adapters {
		if a.State == app.Failed {
			names = append(names, present.AgentName(a.Name))
		}
	}
	return names
}

// installed are the names of the agents that are there.
func installed(s *app.Snapshot) []string {
	var names []string
	for _, a := range s.Adapters {
		if a.State != app.Absent {
			names = append(names, present.AgentName(a.Name))
		}
	}
	return names
}

func join(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// problemText says which agents could not be asked; empty if all could.
func problemText(s *app.Snapshot) string {
	var lines []string
	for _, a := range s.Adapters {
		if a.State != app.Failed {
			continue
		}
		why := "no full answer"
		if len(a.Problems) > 0 {
			why = present.Cut(short(a.Problems[0]), 180)
		}
		if more := len(a.Problems) - 1; more > 0 {
			why += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, present.AgentName(a.Name)+": "+why)
	}
	return strings.Join(lines, "\n")
}
