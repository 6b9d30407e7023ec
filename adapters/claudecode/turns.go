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
	case s.unsure:
		return verdict{status: adapters.Unknown, evidence: fmt.Sprintf(
			"no registry; one of %d transcripts of pid %d and processes that ended, and this version does not say which; %s",
			s.rivals, owners[0].PID, c.lastRecord(s))}
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
	// otherDelay is for tools that may take long without a process of their own.
	otherDelay = 5 * time.Second
	// An answer of versions without a stop reason is taken to go on for shortPart
	// after its last block, and can go on for longPart; one that was broken off is
	// taken to be tried again for partDelay.
	shortPart = 5 * time.Second
	longPart  = 5 * time.Minute
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
	if len(s.owners) == 1 && s.owners[0].oneShot && t.state != unreadable && p.Started.After(t.at.Add(clockSlack)) {
		v.status = adapters.Working // 1.0.128 and 2.1.20 record the prompt with the answer
		v.evidence += "; it runs with -p and has recorded nothing yet"
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
		old, age := before(s.facts.version, firstStopReason), c.at.Sub(t.at)
		switch {
		case t.state == brokenOff && age > partDelay, old && age > longPart:
			v.status, v.outcome = adapters.Idle, t.outcome(true, s.facts.version)
		case old && t.state == inAnswer && age > shortPart:
			v.status = adapters.Unknown
			v.evidence += "; it was the end of the turn, or a long call is being written"
		}
	case callsTools:
		c.judgeCalls(&v, t, p)
	case unreadable:
	}
	return v
}

// calling is what kinds of tools wait for their results.
type calling struct {
	asks     bool // a question to the user
	plan     bool // it is shown for the user's approval
	commands bool // a child process as long as it runs
	quick    bool // over at once
	children bool // sub-agents
	others   bool // may take long, without a process of its own
}

func (t *turn) calling() (k calling, first time.Time) {
	first = t.at
	for _, u := range t.pending {
		if !u.at.IsZero() && u.at.Before(first) {
			first = u.at
		}
		switch u.name {
		case "AskUserQuestion":
			k.asks = true
		case "ExitPlanMode":
			k.plan = true
		case "Bash":
			k.commands = true
		case "Edit", "MultiEdit", "Write", "NotebookEdit", "Read":
			k.quick = true
		case "Task", "Agent":
			k.children = true
		default:
			k.others = true
		}
	}
	return k, first
}

// onlyAsks says whether nothing but questions to the user is unanswered.
func (t *turn) onlyAsks() bool {
	k, _ := t.calling()
	return t.state == callsTools && k == calling{asks: true}
}

// judgeCalls tells whether tool calls run or wait for a permission, which these
// versions write nowhere.
func (c *call) judgeCalls(v *verdict, t *turn, p proc.Process) {
	k, first := t.calling()
	age := c.at.Sub(t.at)
	known := !p.IsZero() && !first.IsZero()
	var young []proc.Process
	if known {
		young = c.table.startedSince(p.PID, first)
	}
	switch {
	case k.asks:
		v.status, v.waiting = adapters.Waiting, adapters.ForQuestion
	case k.plan: // versions with a status call it a permission prompt
		v.status, v.waiting = adapters.Waiting, adapters.ForPermission
	case len(young) > 0:
		v.status = adapters.Working
		v.evidence += fmt.Sprintf("; pid %d (%s) runs since", young[0].PID, word(young[0].Comm))
	case known && !k.others && !k.children && (k.commands && age > commandDelay || k.quick && age > writeDelay):
		v.status, v.waiting = adapters.Waiting, adapters.ForPermission
		v.evidence += "; nothing runs, so it waits for a permission"
	default:
		v.status = adapters.Working
		if k.others && age > otherDelay {
			v.status = adapters.Unknown
		}
		v.evidence += "; it runs or waits for a permission: this version does not say which"
	}
}
