package copilot

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// The tools that wait for the user.
const (
	askUser  = "ask_user"
	exitPlan = "exit_plan_mode"
)

// decide derives the status of a session from its file and its process.
func (d *discovery) decide(s *session) adapters.State {
	said := d.lastRecord(s)
	switch {
	case s.owner == nil && d.Homes.NoTable:
		return kit.Unknown(said + "; the processes could not be read")
	case s.mayBeShown():
		return kit.Unknown(fmt.Sprintf("%s; process %d made this copy of a session and may show it: no process is recorded to have a copy before its first prompt", said, s.made.PID))
	case s.owner == nil:
		return kit.Stopped(s.facts.turn.stopped(), "no process has it; "+said)
	case s.unread:
		return kit.Unknown(fmt.Sprintf("its records could not be read; process %d", s.owner.PID))
	case s.facts.known == 0:
		return kit.Unknown(fmt.Sprintf("the form of its records is not recognised; process %d", s.owner.PID))
	}
	said += fmt.Sprintf("; process %d", s.owner.PID)
	t := &s.facts.turn
	switch {
	case t.lost:
		return kit.Unknown(said)
	case t.shut && !t.open, t.at.Before(s.began().Add(-kit.StartSlack)) && t.open:
		if t.open {
			return kit.Idle(adapters.Died, said+", which began after the turn")
		}
		return kit.Idle(t.outcome, said)
	case t.between && d.Now.Sub(t.at) < kit.Delay(betweenTurns, d.Table.Pressure()):
		return kit.Working(said + ", and the results have no answer yet").Until(t.at.Add(kit.Delay(betweenTurns, d.Table.Pressure())))
	case !t.open:
		return kit.Idle(t.outcome, said)
	}
	return d.decideOpen(s, said)
}

// began returns when the process of a session began, by the clock of its records where it holds a file in the session's folder: Started
// moves when the clock is set. The file can have been touched since.
func (s *session) began() time.Time {
	if slices.Contains(s.owner.holds, s.id) {
		for _, pid := range s.owner.pids {
			if info, err := os.Lstat(filepath.Join(s.dir(), fmt.Sprintf("inuse.%d.hold", pid))); err == nil && info.ModTime().Before(s.owner.Started) {
				return info.ModTime()
			}
		}
	}
	return s.owner.Started
}

// betweenTurns is longer than Copilot takes from the end of a call of the model to the next one: 1 ms in 1.0.102.
const betweenTurns = time.Second

// decideOpen returns the state of a session that is in a turn.
func (d *discovery) decideOpen(s *session, said string) adapters.State {
	t := &s.facts.turn
	if n := len(t.asked); n > 0 {
		return kit.Waiting(adapters.ForPermission, said+"; it asks for permission"+kit.Quoted(t.asked[n-1].text))
	}
	for _, c := range t.calls {
		switch c.tool {
		case askUser:
			return kit.Waiting(adapters.ForQuestion, said+"; it asks"+kit.Quoted(c.text))
		case exitPlan:
			return kit.Waiting(adapters.ForPermission, said+"; it asks for permission to carry out its plan")
		}
	}
	if floor.IsOlder(s.facts.version) && slices.ContainsFunc(t.calls, func(c call) bool { return c.runs }) {
		return floor.Unknown(s.facts.version, said)
	}
	return kit.Working(said)
}

// floor is the first version that stores its requests for permission; 1.0.34 does not.
var floor = kit.Floor{Title: "Copilot CLI", Version: "1.0.60"}

// stopped returns the outcome of the turn of a session without a process. The end that a process records ends no turn: after SIGTERM, or with
// its terminal, 1.0.102 writes nothing else.
func (t *turn) stopped() adapters.Outcome {
	switch {
	case t.lost:
		return ""
	case t.open:
		return adapters.Died
	}
	return t.outcome
}

// lastRecord describes the state of the last turn, for evidence.
func (d *discovery) lastRecord(s *session) string {
	t := &s.facts.turn
	switch {
	case t.lost:
		return "the state of its turn is not known: " + t.why
	case t.kind == "":
		return "no turn yet"
	}
	said := fmt.Sprintf("last record %q, %s ago", t.kind, kit.Span(d.Now.Sub(t.at)))
	if t.outcome == adapters.Failed {
		said += kit.Quoted(t.why)
	}
	if t.shut {
		said += ", and its process then ended"
	}
	return said
}
