package claudecode

import (
	"fmt"
	"path/filepath"

	"rollcall/adapters"
)

// judgeStopped is for a session without a process.
func (c *call) judgeStopped(s *session) verdict {
	v := verdict{status: adapters.Stopped, outcome: s.facts.turn.outcome(false, s.facts.version)}
	why := "no process"
	switch e := s.gone; {
	case s.left != "":
		why = s.left
		v.outcome = s.facts.turn.outcome(true, s.facts.version) // it did not die
	case e != nil && s.reused:
		v.outcome = e.cutOff(&s.facts.turn, v.outcome)
		why = fmt.Sprintf("registry %s is left over: pid %d is another process now", filepath.Base(e.path), e.pid)
	case e != nil:
		v.outcome = e.cutOff(&s.facts.turn, v.outcome)
		why = fmt.Sprintf("registry %s is left over: pid %d is gone", filepath.Base(e.path), e.pid)
		if e.status != "" {
			why += "; it was " + word(e.status)
		}
	case v.outcome == adapters.Died && s.foreign == nil && !c.leftAt(s).IsZero():
		v.outcome = adapters.Interrupted
		why += "; the user left it"
	case s.foreign != nil:
		why = fmt.Sprintf("no sign of life for %s from the machine of %s", span(c.at.Sub(s.lastSign(s.foreign))), filepath.Base(s.foreign.path))
	}
	v.evidence = why + "; " + c.lastRecord(s)
	return v
}

// cutOff says how the turn ended in a session whose process left its entry
// behind, given what the transcript says of it. What the entry said later than
// the last record counts: an idle session had no open turn (a prompt that is
// taken back before its answer begins stays as the last record), a busy one had.
func (e *entry) cutOff(t *turn, told adapters.Outcome) adapters.Outcome {
	if !e.since.After(t.at) {
		return told
	}
	switch e.status {
	case "idle", "shell":
		if told == adapters.Died {
			return ""
		}
	case "busy":
		if t.state != unreadable {
			return adapters.Died
		}
	}
	return told
}

// outcome says how the turn ended. A turn that is open in a session without a
// process was cut off.
func (t *turn) outcome(live bool, version string) adapters.Outcome {
	switch t.state {
	case endedWell:
		return adapters.Completed
	case endedByUser:
		return adapters.Interrupted
	case endedInError:
		return adapters.Failed
	case noTurn, unreadable:
		return ""
	case inAnswer:
		if live {
			return adapters.Completed
		}
		if version == "" || before(version, firstStopReason) {
			return "" // these wrote no stop reason
		}
	}
	if live {
		return ""
	}
	return adapters.Died
}
