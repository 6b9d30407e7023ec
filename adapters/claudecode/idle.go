package claudecode

import (
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/report"
	"rollcall/proc"
)

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

// asksInTurn reports whether an open dialog holds up a turn. It does not when the turn
// is over, or when the user opened it by a command: then the prompt of that turn was
// taken back.
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

// isBehind reports whether the turn that ended is not in the transcript yet: it is
// written up to 0.1 s after the registry says idle.
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
