package codex

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
)

// sight is all that was seen of one thread at one moment.
type sight struct {
	facts  facts
	host   *host // nil: no process has it open
	unread error // why the rollout could not be read
	answer *threadStatus
	// running is a process that an unanswered call runs in, 0 if none was seen;
	// nothingRuns says that there surely is none.
	running     int
	nothingRuns bool
	// opaque is a live Codex that could have it open, which can't be seen.
	opaque *host
	now    time.Time
}

// verdict is a status with what it rests on.
type verdict struct {
	status   adapters.Status
	waiting  adapters.WaitingFor
	outcome  adapters.Outcome
	evidence string
}

const (
	// settle is how long after a call a command's process is surely there, and
	// how long an answer of the model stands alone when more is to follow.
	settle   = 3 * time.Second
	longWait = 10 * time.Second
	// silence is after how long without any record the evidence for an open turn
	// says what a version that does not record approvals and failures may hide.
	silence = 15 * time.Minute
)

// decide derives the status. It is pure.
func decide(s sight) verdict {
	switch {
	case s.unread != nil && s.answer == nil && s.host != nil:
		return verdict{status: adapters.Unknown, evidence: fmt.Sprintf(
			"%s has the rollout open, which could not be read: %v", process(s.host), s.unread)}
	case !s.facts.known && s.answer == nil && s.host != nil:
		return verdict{status: adapters.Unknown, evidence: fmt.Sprintf(
			"%s has the rollout open, but its first line is no session_meta", process(s.host))}
	case !s.facts.known && s.host == nil:
		return verdict{status: adapters.Stopped, evidence: "no process has the rollout open; its first line is no session_meta"}
	case s.host == nil:
		return s.withoutHost()
	case s.answer != nil:
		if v, ok := s.byDaemon(); ok {
			return v
		}
	}
	return s.byRecords()
}

// byDaemon uses the daemon's own word; false for one that it doesn't know.
func (s sight) byDaemon() (verdict, bool) {
	said := process(s.host) + " says "
	switch a := s.answer; a.Type {
	case "active":
		switch {
		case a.has("waitingOnApproval"):
			return verdict{status: adapters.Waiting, waiting: adapters.ForPermission,
				evidence: said + "waitingOnApproval" + s.pending()}, true
		case a.has("waitingOnUserInput"):
			return verdict{status: adapters.Waiting, waiting: adapters.ForQuestion, evidence: said + "waitingOnUserInput"}, true
		case len(a.Flags) > 0:
			return verdict{status: adapters.Unknown, evidence: fmt.Sprintf("%sactive with the unknown flags %.80q",
				said, a.Flags)}, true
		}
		return verdict{status: adapters.Working, evidence: said + "active" + s.pending()}, true
	case "idle":
		v := verdict{status: adapters.Idle, evidence: said + "idle"}
		if s.facts.turn.state == ended {
			v.outcome, v.evidence = s.facts.turn.outcome, v.evidence+"; "+s.lastTurn()
		}
		return v, true
	case "systemError":
		return verdict{status: adapters.Idle, outcome: adapters.Failed, evidence: said + "systemError"}, true
	}
	return verdict{}, false
}

// byRecords uses what the host has written.
func (s sight) byRecords() verdict {
	t := s.facts.turn
	holder := process(s.host)
	switch {
	case t.state == noTurn:
		return verdict{status: adapters.Idle, evidence: holder + " has it open; no turn yet"}
	case t.state == lost:
		return verdict{status: adapters.Unknown, evidence: fmt.Sprintf(
			"%s has it open; the last %d MB of the rollout hold no complete record", holder, window>>20)}
	case t.state == ended:
		return verdict{status: adapters.Idle, outcome: t.outcome, evidence: s.lastTurn() + "; " + holder + " has it open"}
	case s.answered():
		return verdict{status: adapters.Idle, outcome: adapters.Completed,
			evidence: "the model's answer is the last record, " + s.clock(t.answered) + "; " + holder + " has it open"}
	case s.inherited():
		return verdict{status: adapters.Idle, evidence: "last turn left open " + s.clock(t.last) + ", before " + holder + " began, which has it open"}
	}
	return s.openTurn(holder)
}

// inherited says whether an open turn is that of a process before this one, which
// was killed: no turn outlives its process, and a resumed thread begins none.
func (s sight) inherited() bool {
	t := s.facts.turn
	return t.state == open && !t.last.IsZero() && t.last.Add(slack).Before(s.host.Started)
}

// openTurn tells apart what an open turn can be.
func (s sight) openTurn(holder string) verdict {
	begun := "turn open since " + s.clock(s.facts.turn.since) + " in " + holder
	call, asked := s.oldestCall()
	quiet := s.now.Sub(s.facts.last)
	switch {
	case asked && call.asks:
		return verdict{status: adapters.Waiting, waiting: adapters.ForQuestion,
			evidence: "request_user_input since " + s.clock(call.at) + " without an answer; " + begun}
	case asked && s.running != 0:
		return verdict{status: adapters.Working,
			evidence: fmt.Sprintf("%s since %s, process %d runs; %s", call.tool, s.clock(call.at), s.running, begun)}
	case asked && s.needsPermission(call):
		return verdict{status: adapters.Waiting, waiting: adapters.ForPermission,
			evidence: fmt.Sprintf("%s %s; %s", call.tool, s.whyPermission(call), begun)}
	case asked && s.facts.approval != "never":
		return verdict{status: adapters.Working, evidence: fmt.Sprintf(
			"%s since %s without a result: it runs or waits for permission, the files do not say which; %s",
			call.tool, s.clock(call.at), begun)}
	case asked:
		return verdict{status: adapters.Working, evidence: call.tool + " since " + s.clock(call.at) + "; " + begun}
	case !s.facts.turn.explicit && quiet > silence:
		return verdict{status: adapters.Working, evidence: fmt.Sprintf(
			"%s, no record for %s: it may wait for permission or have failed, Codex %s records neither",
			begun, quiet.Round(time.Minute), s.facts.version)}
	case !s.facts.turn.explicit:
		return verdict{status: adapters.Working, evidence: begun + " (Codex " + s.facts.version + " does not record approvals)"}
	}
	return verdict{status: adapters.Working, evidence: begun}
}

// needsPermission says whether a call can be nothing but waiting: the user decides
// on it, and its command surely runs not. One that asks to leave the sandbox, or a
// patch, is begun at once when nobody is asked; other commands are given more time.
func (s sight) needsPermission(c toolCall) bool {
	age := s.now.Sub(c.at)
	return s.nothingRuns && s.userDecides() &&
		((c.escalated || c.tool == patchTool) && age >= settle || slices.Contains(commandTools, c.tool) && age >= longWait)
}

func (s sight) whyPermission(c toolCall) string {
	switch {
	case c.tool == patchTool:
		return "since " + s.clock(c.at) + " without a result, and nothing works on it"
	case c.escalated:
		return "asks since " + s.clock(c.at) + " to run outside the sandbox, and no process of it runs"
	}
	return "since " + s.clock(c.at) + " without a result, and no process of it runs: it waits for permission"
}

// userDecides says whether the user is asked for approvals: neither nobody nor a
// model is.
func (s sight) userDecides() bool {
	return s.facts.approval != "never" && (s.facts.reviewer == "" || s.facts.reviewer == "user")
}

const patchTool = "apply_patch"

// commandTools are the names of the tool that runs commands over the versions.
var commandTools = []string{"exec_command", "shell_command", "shell", "local_shell", "container.exec"}

// withoutHost is for a thread that no process has open.
func (s sight) withoutHost() verdict {
	if s.opaque != nil {
		return verdict{status: adapters.Unknown, evidence: fmt.Sprintf(
			"%s runs and may host it: which files it has open can't be seen (%v); %s",
			process(s.opaque), s.opaque.opaque, s.lastTurn())}
	}
	t := s.facts.turn
	v := verdict{status: adapters.Stopped, outcome: t.outcome, evidence: "no process has it open; " + s.lastTurn()}
	switch {
	case t.state != open:
	case s.answered():
		v.outcome = adapters.Completed
	default:
		v.outcome = adapters.Died
	}
	return v
}

// answered says whether an open turn of a version without task_complete is over:
// the model's answer came last and was complete, or nothing has followed for a
// while.
func (s sight) answered() bool {
	t := s.facts.turn
	if t.state != open || t.explicit || t.answered.IsZero() || !t.recorded || len(s.facts.calls) > 0 {
		return false
	}
	return t.counted || s.host == nil || s.now.Sub(s.facts.last) > longWait
}

func (s sight) oldestCall() (toolCall, bool) {
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

func (s sight) pending() string {
	if c, ok := s.oldestCall(); ok {
		return ": " + c.tool + " since " + s.clock(c.at)
	}
	return ""
}

// lastTurn says how the last turn ended, for evidence.
func (s sight) lastTurn() string {
	t := s.facts.turn
	switch {
	case t.state == noTurn:
		return "no turn recorded"
	case t.state == lost:
		return fmt.Sprintf("the last %d MB of the rollout hold no complete record", window>>20)
	case s.answered():
		return "the model's answer is the last record, " + s.clock(t.answered)
	case t.state == open:
		return "last turn left open, " + s.clock(s.facts.last)
	}
	words := map[adapters.Outcome]string{adapters.Completed: "completed", adapters.Failed: "failed",
		adapters.Interrupted: "interrupted"}[t.outcome]
	if words == "" {
		words = "ended"
	}
	text := "last turn " + words + " " + s.clock(t.since)
	if t.outcome == adapters.Failed && t.why != "" {
		text += fmt.Sprintf(" (%.120s)", strings.ToValidUTF8(t.why, ""))
	}
	return text
}

// clock is a time of day where that is enough.
func (s sight) clock(t time.Time) string {
	if t.IsZero() {
		return "some time ago"
	}
	t = t.In(s.now.Location())
	if age := s.now.Sub(t); age > 12*time.Hour || age < -12*time.Hour {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("15:04:05")
}

func process(h *host) string {
	if h.server {
		return fmt.Sprintf("app-server %d", h.PID)
	}
	return fmt.Sprintf("process %d", h.PID)
}
