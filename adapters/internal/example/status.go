package example

import (
	"fmt"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// decide derives the status of a session from its file and its process.
func (d *discovery) decide(s *session) adapters.State {
	said := fmt.Sprintf("last record %q, %s ago", s.last, kit.Span(d.Now.Sub(s.at)))
	switch {
	case s.owner == nil && d.Homes.NoTable:
		return kit.Unknown(said + "; the processes could not be read")
	case s.process.IsZero():
		return kit.Unknown(said + "; the file names no process")
	case s.owner == nil:
		return kit.Stopped(s.outcome(), fmt.Sprintf("%s; process %d is gone", said, s.process.PID))
	}
	said += fmt.Sprintf("; process %d", s.owner.PID)
	switch {
	case s.lost != "":
		return kit.Unknown(said + "; " + s.lost)
	case s.last == "answer":
		return kit.Idle(adapters.Completed, said)
	case s.fresh: // an earlier open turn belongs to another process
		return kit.Idle("", said)
	case s.last == "ask":
		return kit.Waiting(adapters.ForPermission, said)
	}
	return kit.Working(said)
}

// outcome returns the outcome of a session whose process has ended.
func (f *facts) outcome() adapters.Outcome {
	switch {
	case f.last == "" || f.lost != "":
		return ""
	case f.last == "answer":
		return adapters.Completed
	}
	return adapters.Died
}
