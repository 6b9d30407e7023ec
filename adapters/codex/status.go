package codex

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// observation holds everything that one call of Discover found out about a thread.
type observation struct {
	facts  facts
	host   *host // nil: no process has it open
	unread error // why the rollout could not be read
	answer *threadStatus
	// running is a process that an unanswered call runs in, 0 if none was seen;
	// nothingRuns reports that there is certainly none.
	running     int
	nothingRuns bool
	// possibleHost is a live Codex that could have the rollout open, and whose open
	// files can't be seen.
	possibleHost *host
	now          time.Time
	pressure     float64 // of the processors, see proc.Lister
}

const (
	// startDelay is the time after a call by which the command's process must be
	// visible.
	startDelay = 600 * time.Millisecond
	longWait   = 10 * time.Second
)

// decide returns the status of a thread. It reads nothing.
func decide(s observation) adapters.State {
	switch {
	case s.unread != nil && s.answer == nil && s.host != nil:
		return kit.Unknown(fmt.Sprintf("%s has the rollout open, which could not be read: %v", process(s.host), s.unread))
	case !s.facts.known && s.answer == nil && s.host != nil:
		return kit.Unknown(fmt.Sprintf("%s has the rollout open, but %s", process(s.host), s.facts.whyNoHead()))
	case !s.facts.known && s.host == nil:
		return kit.Stopped("", "no process has the rollout open; "+s.facts.whyNoHead())
	case s.host == nil:
		return s.withoutHost()
	case floor.IsOlder(s.facts.version) && !s.facts.numbered && s.facts.turn.state != ended:
		return floor.Unknown(s.facts.version, s.lastTurn()+"; "+process(s.host)+" has it open")
	case s.answer != nil:
		if v, ok := s.byDaemon(); ok {
			return v
		}
	}
	return s.byRecords()
}

// byDaemon returns the state according to the daemon. ok is false for a thread that the daemon
// doesn't know.
func (s observation) byDaemon() (adapters.State, bool) {
	said := process(s.host) + " says "
	switch a := s.answer; a.Type {
	case "active":
		switch {
		case a.has("waitingOnApproval"):
			return kit.Waiting(adapters.ForPermission, said+"waitingOnApproval"+s.pending()), true
		case a.has("waitingOnUserInput"):
			return kit.Waiting(adapters.ForQuestion, said+"waitingOnUserInput"), true
		case len(a.Flags) > 0:
			return kit.Unknown(fmt.Sprintf("%sactive with the unknown flags %.80q",
				said, a.Flags)), true
		}
		return kit.Working(said + "active" + s.pending()), true
	case "idle":
		v := kit.Idle("", said+"idle")
		switch {
		case s.facts.turn.state == ended:
			v.Outcome, v.Evidence = s.facts.turn.outcome, v.Evidence+"; "+s.lastTurn()
		case s.inherited():
			v.Outcome, v.Evidence = adapters.Died, v.Evidence+"; "+s.leftOpen()
		}
		return v, true
	case "systemError":
		return kit.Idle(adapters.Failed, said+"systemError"), true
	}
	return adapters.State{}, false
}

// byRecords returns the state according to what the host has written.
func (s observation) byRecords() adapters.State {
	t := s.facts.turn
	holder := process(s.host)
	switch {
	case t.state == noTurn:
		return kit.Idle("", holder+" has it open; no turn yet")
	case t.state == lost:
		return kit.Unknown(fmt.Sprintf("%s has it open; %s", holder, s.facts.whyNoTurn()))
	case t.state == ended:
		return kit.Idle(t.outcome, s.lastTurn()+"; "+holder+" has it open")
	case s.inherited():
		return kit.Idle(adapters.Died, s.leftOpen()+", which has it open")
	case s.mayBeInherited():
		return kit.Unknown("turn open " + s.at(t.last) + ", before " + holder +
			" began by the clock of this machine: it is an earlier process's, or the clock was set")
	}
	return s.openTurn(holder)
}

// clockError is the largest difference between the start time of a process and the time
// in a record of the same moment. On Linux the start time is cut to a clock tick, and
// comes from another clock.
const clockError = 10 * time.Millisecond

// inherited reports whether an open turn belongs to an earlier process, which was
// killed: the turn began and had its last record before this process started. No turn
// outlives its process, and a thread that is reopened begins none. Codex takes some
// hundred milliseconds from its start to its first turn, so its own turn never begins
// that soon.
//
// Process.Started moves when the clock is set, and the times of records do not. Where the process left no trace of its
// start by the clock of its records, only one that was started to reopen a thread can have inherited its turn.
func (s observation) inherited() bool {
	return s.host != nil && s.isOlderThan(s.host.started()) && s.isOlderThan(s.host.Started) &&
		(!s.host.madeOwn.IsZero() || s.host.reopens && !s.host.olderTerminal || s.answer != nil)
}

// mayBeInherited reports whether an open turn may belong to an earlier process, or to this one, whose start is not known by
// the clock of the records.
func (s observation) mayBeInherited() bool {
	h := s.host
	if h.role == run && !h.reopens { // it has only the thread that it began
		return false
	}
	return s.isOlderThan(h.started()) && (h.madeOwn.IsZero() || h.clockSet())
}

// isOlderThan reports whether the open turn had its last record before a process started. Where the turn's beginning lies too
// far back to be read, only a record that is certainly older shows that.
func (s observation) isOlderThan(started time.Time) bool {
	t := s.facts.turn
	if t.state != open || t.last.IsZero() {
		return false
	}
	if t.since.IsZero() {
		return t.last.Before(started)
	}
	return t.since.Before(started.Add(-clockError)) && t.last.Before(started.Add(clockError))
}

// leftOpen describes an inherited turn, for evidence.
func (s observation) leftOpen() string {
	return "last turn left open " + s.at(s.facts.turn.last) + ", before " + process(s.host) + " began"
}

// openTurn returns the state of an open turn: at work, or waiting for the user.
func (s observation) openTurn(holder string) adapters.State {
	begun := "turn open in " + holder
	if since := s.facts.turn.since; !since.IsZero() {
		begun = "turn open since " + s.at(since) + " in " + holder
	}
	call, asked := s.oldestCall()
	switch {
	case asked && call.asks:
		return kit.Waiting(adapters.ForQuestion, "request_user_input since "+s.at(call.at)+" without an answer; "+begun)
	case asked && (s.host.clockSet() || call.at.After(s.now.Add(setClock))) && s.canAsk():
		return kit.Unknown(fmt.Sprintf("%s since %s without a result: it runs or waits for permission, and the clock was set since %s began; %s",
			call.tool, s.at(call.at), process(s.host), begun))
	case asked && s.running != 0:
		return kit.Working(fmt.Sprintf("%s since %s, process %d runs; %s", call.tool, s.at(call.at), s.running, begun))
	case asked && s.needsPermission(call):
		return kit.Waiting(adapters.ForPermission, fmt.Sprintf("%s %s; %s", call.tool, s.whyPermission(call), begun))
	case asked && s.canAsk():
		return kit.Working(fmt.Sprintf(
			"%s since %s without a result: it runs or waits for permission, the files do not say which; %s",
			call.tool, s.at(call.at), begun))
	case asked:
		return kit.Working(call.tool + " since " + s.at(call.at) + "; " + begun)
	}
	return kit.Working(begun)
}

// needsPermission reports whether a call can only be waiting for permission: the user
// decides on it, and its command does not run. A call that asks to leave the sandbox,
// a patch, and every command where the user is asked about each, begin at once when no
// approval is needed. Other commands get more time.
func (s observation) needsPermission(c toolCall) bool {
	age, isCommand := s.now.Sub(c.at), slices.Contains(commandTools, c.tool)
	asks := c.escalated || c.tool == patchTool || isCommand && s.facts.approval == "untrusted"
	return s.nothingRuns && s.userDecides() && (asks && age >= kit.Delay(startDelay, s.pressure) || isCommand && age >= longWait)
}

func (s observation) whyPermission(c toolCall) string {
	switch {
	case c.tool == patchTool:
		return "since " + s.at(c.at) + " without a result, and nothing works on it"
	case c.escalated:
		return "asks since " + s.at(c.at) + " to run outside the sandbox, and no process of the call runs"
	}
	return "since " + s.at(c.at) + " without a result, and no process of the call runs: it waits for permission"
}

// userDecides reports whether approvals are asked of the user, and not of a model.
func (s observation) userDecides() bool {
	return s.canAsk() && (s.facts.reviewer == "" || s.facts.reviewer == "user")
}

// canAsk reports whether somebody can be asked for an approval. A run without a terminal (codex exec) refuses what needs one, whatever its records say (0.171.0).
func (s observation) canAsk() bool {
	return s.facts.approval != "never" && (s.host == nil || s.host.role != run)
}

const patchTool = "apply_patch"

// withoutHost returns the state of a thread that no process has open.
func (s observation) withoutHost() adapters.State {
	if s.possibleHost != nil {
		return kit.Unknown(fmt.Sprintf(
			"%s runs and may host it: which files it has open can't be seen (%v); %s",
			process(s.possibleHost), s.possibleHost.filesErr, s.lastTurn()))
	}
	t := s.facts.turn
	v := kit.Stopped(t.outcome, "no process has it open; "+s.lastTurn())
	if t.state == open && s.recordsTurns() {
		v.Outcome = adapters.Died
	}
	return v
}

// recordsTurns reports whether the beginning and the end of the last turn are recorded. Versions before 0.106 record
// neither.
func (s observation) recordsTurns() bool {
	return s.facts.turn.id != "" || !floor.IsOlder(s.facts.version)
}

func (s observation) oldestCall() (toolCall, bool) {
	if len(s.facts.calls) == 0 {
		return toolCall{}, false
	}
	for _, c := range s.facts.calls {
		if c.asks || c.escalated {
			return c, true
		}
	}
	return s.facts.calls[0], true
}

func (s observation) pending() string {
	if c, ok := s.oldestCall(); ok {
		return ": " + c.tool + " since " + s.at(c.at)
	}
	return ""
}

// whyNoTurn returns why the last turn could not be found.
func (f *facts) whyNoTurn() string {
	if f.longLine != "" {
		return "format not recognised: " + f.longLine
	}
	return fmt.Sprintf("the last %d MB of the rollout hold no complete record", readWindow>>20)
}

// whyNoHead returns why a rollout's first line cannot be used.
func (f *facts) whyNoHead() string {
	if f.longLine != "" {
		return f.whyNoTurn()
	}
	return "format not recognised: its first line is not session_meta (Codex 0.32 and later write it)"
}

// lastTurn describes how the last turn ended, for evidence.
func (s observation) lastTurn() string {
	t := s.facts.turn
	switch {
	case t.state == noTurn:
		return "no turn recorded"
	case t.state == lost:
		return s.facts.whyNoTurn()
	case t.state == open && !s.recordsTurns():
		return "Codex " + s.facts.version + " does not record how a turn ends"
	case t.state == open:
		return "last turn left open, " + s.at(s.facts.last)
	}
	words := map[adapters.Outcome]string{adapters.Completed: "completed", adapters.Failed: "failed", adapters.Interrupted: "interrupted"}
	text := "last turn " + cmp.Or(words[t.outcome], "ended") + " " + s.at(t.since)
	if t.outcome == adapters.Failed {
		text += kit.Quoted(t.why)
	}
	if s.planWaits() {
		text += "; a plan waits for your decision"
	}
	return text
}

// planWaits reports whether the last turn proposed a plan in the process that has the thread now: its terminal asks whether to carry it out, unless the
// user closed that, which is not recorded (0.171.0). A terminal that reopens the thread does not ask again.
func (s observation) planWaits() bool {
	t := &s.facts.turn
	return s.host != nil && t.state == ended && t.plan != "" && !t.since.Before(s.host.started())
}

// decision returns adapters.Session.Decision for a session with that status.
func (s observation) decision(status adapters.Status) string {
	if status == adapters.Idle && s.planWaits() {
		return "a plan"
	}
	return ""
}

// at returns a time for evidence.
func (s observation) at(t time.Time) string { return kit.Clock(t, s.now) }

func process(h *host) string {
	switch {
	case h.isACP():
		return fmt.Sprintf("%s %d", acpProgram, h.PID)
	case h.role == server:
		return fmt.Sprintf("app-server %d", h.PID)
	}
	return fmt.Sprintf("process %d", h.PID)
}
