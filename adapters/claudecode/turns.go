package claudecode

import (
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/report"
	"rollcall/proc"
)

// usesTranscript reports whether the status of this live session comes from its
// transcript, because no registry has one.
func (s *session) usesTranscript() bool {
	return len(s.owners) > 0 || len(s.live) > 0 && s.live[0].status == ""
}

// decideOwned returns the verdict on a session of a version without a registry, or
// whose entry was removed while its process runs.
func (d *discovery) decideOwned(s *session) report.Verdict {
	without := "no registry"
	if len(s.owners) == 1 && hasRegistry(s.facts.version) {
		without = fmt.Sprintf("registry %d.json was removed", s.owners[0].PID)
	}
	switch owners := s.owners; {
	case s.ambiguous:
		return report.Unknown(fmt.Sprintf(
			"no registry; one of %d transcripts of pid %d and processes that ended, and this version does not say which; %s",
			s.candidates, owners[0].PID, d.lastRecord(s)))
	case len(owners) == 1 && s.candidates > 1:
		return d.decideTurn(s, owners[0].Process, fmt.Sprintf("%s; newest of %d transcripts in the folder of pid %d", without, s.candidates, owners[0].PID))
	case len(owners) == 1 && owners[0].session() == s.id:
		return d.decideTurn(s, owners[0].Process, fmt.Sprintf("%s; pid %d by its arguments", without, owners[0].PID))
	case len(owners) == 1:
		return d.decideTurn(s, owners[0].Process, fmt.Sprintf("%s; pid %d by its folder and start", without, owners[0].PID))
	case s.candidates > len(owners):
		return report.Unknown(fmt.Sprintf(
			"no registry; %d transcripts for pids %s, and this version does not say which belongs to which; %s", s.candidates, pids(owners), d.lastRecord(s)))
	default:
		return d.decideTurn(s, proc.Process{}, fmt.Sprintf("no registry; pid %s (this version does not say which)", pids(owners)))
	}
}

const (
	// A permitted command becomes a child process at once; a permitted write has its
	// result at once. After this time the call is waiting for something else.
	commandDelay = 2 * time.Second
	writeDelay   = 5 * time.Second
	// resultDelay is the longest time between the end of a command and the writing of
	// its result, on a busy machine.
	resultDelay = 5 * time.Second
	// otherDelay is the same time for tools that may take long without starting a
	// process.
	otherDelay = 5 * time.Second
	// In versions without a stop reason, an answer counts as continuing for shortPart
	// after its last block, and can continue for longPart. An answer that was broken
	// off counts as being retried for partDelay.
	shortPart = 5 * time.Second
	longPart  = 5 * time.Minute
	partDelay = time.Minute
	// startDelay is the longest time that a run without a terminal takes until it has
	// recorded its prompt.
	startDelay = time.Minute
)

// decideTurn returns the status of a live session, from its transcript and from the
// children of its process. p is zero where the process is not known.
func (d *discovery) decideTurn(s *session, p proc.Process, why string) report.Verdict {
	v := report.Unknown(why + "; " + d.lastRecord(s))
	if s.file != nil && s.err != nil {
		return v
	}
	t := &s.facts.turn
	if what := d.notRecordedYet(s, p); what != "" {
		v.Status = adapters.Working
		v.Evidence += "; " + what
		return v
	}
	if !t.state.over() && t.state != noTurn && !p.IsZero() && t.before(p) {
		var how string
		v.Status = adapters.Idle // that turn belongs to another process
		v.Evidence += "; the process started later"
		if v.Outcome, how = d.openTurn(s); how != "" {
			v.Evidence += "; " + how
		}
		return v
	}
	switch t.state {
	case noTurn, endedWell, endedByUser, endedInError:
		v.Status, v.Outcome = adapters.Idle, t.outcome(true, s.facts.version)
	case awaitsModel:
		v.Status = adapters.Working
	case inAnswer, brokenOff:
		d.decideAnswer(&v, t, s.facts.version)
	case callsTools:
		d.decideCalls(&v, t, p)
	case unreadable:
	}
	return v
}

// notRecordedYet returns the evidence that the session works although its process has
// recorded nothing: it runs without a terminal and has just started. It returns "" for
// every other session.
func (d *discovery) notRecordedYet(s *session, p proc.Process) string {
	t := &s.facts.turn
	if t.state == unreadable || !t.before(p) {
		return ""
	}
	if len(s.live) > 0 && s.live[0].entrypoint == "sdk-cli" && d.now.Sub(p.Started) < startDelay {
		return "a run without a terminal that has recorded nothing yet"
	}
	if len(s.owners) == 1 && s.owners[0].oneShot { // 1.0.128 and 2.1.20 record the prompt with the answer
		return "it runs with -p and has recorded nothing yet"
	}
	return ""
}

// decideAnswer sets the status of a turn whose last record is a part of an answer.
// Versions without a stop reason do not record that it was the last part.
func (d *discovery) decideAnswer(v *report.Verdict, t *turn, version string) {
	v.Status = adapters.Working
	old, age := before(version, firstStopReason), d.now.Sub(t.at)
	switch {
	case t.state == brokenOff && age > partDelay, old && age > longPart:
		v.Status, v.Outcome = adapters.Idle, t.outcome(true, version)
	case old && t.state == inAnswer && age > shortPart:
		v.Status = adapters.Unknown
		v.Evidence += "; it was the end of the turn, or a long call is being written"
	}
}

// calling describes the tools whose results a turn waits for.
type calling struct {
	asks     bool // a question to the user
	plan     bool // it is shown for the user's approval
	commands bool // it is a child process while it runs
	quick    bool // over at once
	children bool // sub-agents
	others   bool // may take long, without starting a process
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

// onlyAsks reports whether all unanswered calls are questions to the user.
func (t *turn) onlyAsks() bool {
	k, _ := t.calling()
	return t.state == callsTools && k == calling{asks: true}
}

// decideIdle completes the verdict on a live session whose turn is over according to
// the registry. The transcript may still show an open turn: of a prompt that was taken
// back before its answer began, or of a process that was killed before the session was
// opened again.
func (d *discovery) decideIdle(v *report.Verdict, s *session, e *liveEntry) {
	t := &s.facts.turn
	v.Status = adapters.Idle
	open := t.state == awaitsModel || t.state == callsTools
	switch s.turnEndPending = d.isBehind(s, e); {
	case s.turnEndPending:
	case open && t.before(e.process):
		d.decideEarlierTurn(v, s)
	case open && e.since.After(t.at):
		v.Outcome = adapters.Interrupted
		v.Evidence += "; its last prompt was taken back; " + d.lastRecord(s)
	default:
		v.Outcome = t.outcome(true, s.facts.version)
	}
	if e.status == "shell" {
		v.Evidence += " (a shell command runs in the background)"
	}
	if v.Outcome == adapters.Failed {
		v.Evidence += "; " + d.lastRecord(s)
	}
}

// decideEarlierTurn completes the verdict on a session whose open last turn was that of
// an earlier process.
func (d *discovery) decideEarlierTurn(v *report.Verdict, s *session) {
	outcome, how := d.openTurn(s)
	v.Outcome = outcome
	v.Evidence += "; opened again since its last turn"
	if how != "" {
		v.Evidence += ": " + how
	}
	v.Evidence += "; " + d.lastRecord(s)
}

// before reports whether the turn's last record is older than the process.
func (t *turn) before(p proc.Process) bool { return p.Started.After(t.at.Add(clockSlack)) }

// dialogOpen is the registry's waitingFor text while a dialog is open that the user opened
// (/model, /config, /resume). It is also used for the few dialogs that Claude Code opens by
// itself in the middle of a turn ("Session paused": another model, or usage credits). While
// a turn runs, a dialog that the user opened leaves the session's status busy (2.1.329).
const dialogOpen = "dialog open"

// asksInTurn reports whether an open dialog holds up a turn. It returns false when the turn is
// over, or when the user opened the dialog by a command: then the prompt of that turn was taken
// back.
func (d *discovery) asksInTurn(s *session, e *liveEntry) bool {
	t := &s.facts.turn
	if t.state != awaitsModel && t.state != callsTools || t.before(e.process) {
		return false
	}
	typed := d.history(e.root(), e.started).last[s.id]
	return !strings.HasPrefix(typed.text, "/") || typed.at.Before(t.at) || e.since.Sub(typed.at).Abs() > dialogDelay
}

// dialogDelay is the longest time between typing a command and its dialog being open.
// 2.1.329 took 0.2 s. By then the command is in its history.
const dialogDelay = 5 * time.Second

// isBehind reports whether the turn that ended is not in the transcript yet: its end is written
// up to 0.1 s after the registry says idle.
func (d *discovery) isBehind(s *session, e *liveEntry) bool {
	t := &s.facts.turn
	if e.since.IsZero() || d.now.Sub(e.since) > idleDelay || t.state == unreadable {
		return false
	}
	if t.state == awaitsModel || t.state == callsTools {
		return !t.before(e.process)
	}
	return e.interactive() && d.history(e.root(), e.started).prompt[s.id].at.After(t.at)
}

// idleDelay is the time after the end of a turn within which that end may not be
// written yet.
const idleDelay = 2 * time.Second
