package claudecode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

func late(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// judgedByTranscript says whether no registry tells this live session's status.
func (s *session) judgedByTranscript() bool {
	return len(s.owners) > 0 || len(s.live) > 0 && s.live[0].status == ""
}

// judgeOwned is for a session of a version without a registry.
func (c *call) judgeOwned(s *session) verdict {
	switch owners := s.owners; {
	case len(owners) == 1 && s.rivals > 1:
		return c.judgeTurn(s, owners[0].Process, fmt.Sprintf("no registry; newest of %d transcripts in the folder of pid %d", s.rivals, owners[0].PID))
	case len(owners) == 1:
		return c.judgeTurn(s, owners[0].Process, fmt.Sprintf("no registry; pid %d by its folder and start", owners[0].PID))
	case s.rivals > len(owners):
		return verdict{status: adapters.Unknown, evidence: fmt.Sprintf(
			"no registry; %d transcripts for pids %s, and this version does not say which is whose; %s", s.rivals, pids(owners), c.lastRecord(s))}
	default:
		return c.judgeTurn(s, proc.Process{}, fmt.Sprintf("no registry; pid %s (this version does not say which)", pids(owners)))
	}
}

const (
	// A command that was allowed to run is a child process at once; a write is
	// answered at once. Later than this, something else keeps them.
	commandDelay = 2 * time.Second
	writeDelay   = 5 * time.Second
	// partDelay is how long an answer of versions without a stop reason is
	// taken to go on.
	partDelay = time.Minute
	// startDelay is how long a run without a terminal takes at most until it has
	// recorded its prompt.
	startDelay = time.Minute
)

// judgeTurn tells the status of a live session from its transcript and from the
// children of its process, which may be unknown.
func (c *call) judgeTurn(s *session, p proc.Process, why string) verdict {
	v := verdict{status: adapters.Unknown, evidence: why + "; " + c.lastRecord(s)}
	if s.file != nil && s.err != nil {
		return v
	}
	t := &s.facts.turn
	if oneShot := len(s.live) > 0 && s.live[0].entrypoint == "sdk-cli"; oneShot && t.state != unreadable &&
		p.Started.After(t.at.Add(clockSlack)) && c.at.Sub(p.Started) < startDelay {
		v.status = adapters.Working
		v.evidence += "; a run without a terminal that has recorded nothing yet"
		return v
	}
	if !t.state.over() && t.state != noTurn && !p.IsZero() && p.Started.After(t.at.Add(clockSlack)) {
		v.status = adapters.Idle // that turn was another process's
		v.evidence += "; the process started later"
		return v
	}
	switch t.state {
	case noTurn, endedWell, endedByUser, endedInError:
		v.status, v.outcome = adapters.Idle, t.outcome(true, s.facts.version)
	case awaitsModel:
		v.status = adapters.Working
	case inAnswer, brokenOff:
		v.status = adapters.Working
		if old := before(s.facts.version, firstStopReason); (old || t.state == brokenOff) && c.at.Sub(t.at) > partDelay {
			v.status = adapters.Idle
		}
	case callsTools:
		c.judgeCalls(&v, t, p)
	case unreadable:
	}
	return v
}

// judgeCalls tells whether tool calls run or wait for a permission, which these
// versions write nowhere.
func (c *call) judgeCalls(v *verdict, t *turn, p proc.Process) {
	var asks, commands, writes, others bool
	first := t.at
	for _, u := range t.pending {
		if !u.at.IsZero() && u.at.Before(first) {
			first = u.at
		}
		switch u.name {
		case "AskUserQuestion", "ExitPlanMode":
			asks = true
		case "Bash":
			commands = true
		case "Edit", "MultiEdit", "Write", "NotebookEdit":
			writes = true
		default:
			others = true
		}
	}
	age := c.at.Sub(t.at)
	known := !p.IsZero() && !first.IsZero()
	var young []proc.Process
	if known {
		young = c.table.startedSince(p.PID, first)
	}
	switch {
	case asks:
		v.status, v.waiting = adapters.Waiting, adapters.ForQuestion
	case len(young) > 0:
		v.status = adapters.Working
		v.evidence += fmt.Sprintf("; pid %d (%s) runs since", young[0].PID, word(young[0].Comm))
	case known && !others && (commands && age > commandDelay || writes && age > writeDelay):
		v.status, v.waiting = adapters.Waiting, adapters.ForPermission
		v.evidence += "; nothing runs, so it waits for a permission"
	default:
		v.status = adapters.Working
		v.evidence += "; it runs or waits for a permission: this version does not say which"
	}
}
