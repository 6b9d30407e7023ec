package adapters

import (
	"fmt"
	"strings"

	"rollcall/proc"
)

// processPrefix begins the ids of the rows that ProcessSession makes.
const processPrefix = "process-"

// ProcessSession returns the row of an agent's process without a session, such as a
// terminal interface before its first prompt: idle, under the id process-PID-START, so
// that its folder counts as occupied and the process can be stopped. The adapter
// answers with it only while no session of its answer runs in the process. Evidence
// reads "process 4711: open, no session yet".
func ProcessSession(agent Name, p proc.Process, cwd string) Session {
	return Session{
		ID: fmt.Sprintf("%s%d-%d", processPrefix, p.PID, p.Start), Agent: agent,
		State: State{Status: Idle, Evidence: fmt.Sprintf("process %d: open, no session yet", p.PID)},
		Owner: Owner{Process: p.Identity},
		Place: Place{CWD: cwd},
		Times: Times{StartedAt: p.Started, LastActivityAt: p.Started},
	}
}

// UnresponsiveProcess returns the row of an agent's process whose sessions are in a folder
// on a file system that does not answer: unknown, under the id that ProcessSession gives
// it.
func UnresponsiveProcess(agent Name, p proc.Process, cwd, folder string) Session {
	s := ProcessSession(agent, p, cwd)
	s.Status = Unknown
	s.Evidence = fmt.Sprintf("process %d has its sessions in %s, and the file system there does not answer", p.PID, folder)
	return s
}

// IsProcessID reports whether id is the id of a row made by ProcessSession, or its
// beginning. No agent's storage knows such an id: the adapter answers with these rows
// only when all live sessions are asked for.
func IsProcessID(id string) bool { return strings.HasPrefix(id, processPrefix) }

// MayBeProcessID reports whether the id of a row made by ProcessSession can begin
// with prefix.
func MayBeProcessID(prefix string) bool {
	return IsProcessID(prefix) || strings.HasPrefix(processPrefix, prefix)
}

// IsProcess reports whether s is a process without a session, made by ProcessSession or
// UnresponsiveProcess. No notification is sent for it.
//
// A row of another machine has that machine's name, which is its Remote, before its id.
func (s *Session) IsProcess() bool {
	return IsProcessID(s.ID) || s.Remote != "" && IsProcessID(strings.TrimPrefix(s.ID, s.Remote+":"))
}
