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

// failedMachines returns the names of the machines that did not answer in full.
func failedMachines(s *app.Snapshot) (names []string) {
	for _, m := range s.Machines {
		if m.State == app.Failed {
			names = append(names, m.Name)
		}
	}
	return names
}

// maxMachineLines is how many machines are named that did not answer.
const maxMachineLines = 4

// machineLines returns why machines did not answer in full.
func machineLines(s *app.Snapshot) (lines []string) {
	for _, m := range s.Machines {
		if m.State != app.Failed {
			continue
		}
		if len(lines) == maxMachineLines {
			return append(lines, fmt.Sprintf("and %d more machines", len(failedMachines(s))-maxMachineLines))
		}
		why := "did not answer"
		if len(m.Problems) > 0 {
			why = present.Cut(short(m.Problems[0]), 180)
		}
		lines = append(lines, m.Name+": "+why)
	}
	return lines
}

// problemText returns why agents and machines could not be read; empty: all could.
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
	lines = append(lines, machineLines(s)...)
	for _, t := range s.Troubles {
		lines = append(lines, "Rollcall: "+present.Cut(short(t), 180))
	}
	return strings.Join(lines, "\n")
}
