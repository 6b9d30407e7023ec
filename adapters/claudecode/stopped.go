package claudecode

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// decideStopped returns the state of a session without a process.
func (d *discovery) decideStopped(s *session) adapters.State {
	t := &s.facts.turn
	v := adapters.State{Status: adapters.Stopped, Outcome: t.outcome()}
	why, how := "no process", ""
	switch e := s.endedEntry; {
	case s.foreignEntry != nil:
		why = fmt.Sprintf("the machine of %s has written nothing for %s", filepath.Base(s.foreignEntry.path), kit.Span(d.now.Sub(s.lastSign(s.foreignEntry))))
	case e != nil:
		why = e.leftOver(s.pidReused)
	}
	switch {
	case s.endedEntry != nil && s.endedEntry.inTurnAfter(t):
		v.Outcome = adapters.Died
	case t.next != "": // nothing is left of the session that went on with the turn
		v.Outcome, how = "", "it went on as session "+t.next+", of which nothing is left"
	case t.state.isOpen():
		v.Outcome, how = openTurn(s)
	}
	if how != "" {
		why += "; " + how
	}
	v.Evidence = why + "; " + d.lastRecord(s)
	return v
}

// leftOver returns the evidence that the entry's process ended without removing the
// entry. reused reports that another process has its pid now.
func (e *entry) leftOver(reused bool) string {
	state := "is gone"
	if reused {
		state = "is another process now"
	}
	why := fmt.Sprintf("registry %s is left over: pid %d %s", filepath.Base(e.path), e.pid, state)
	if e.status != "" {
		why += "; it was " + shorten(e.status)
	}
	return why
}

// openTurn returns the outcome of a turn that the transcript leaves open, and the
// evidence for it. Claude Code removes its registry entry and, at the latest from
// 2.1.270, writes a last record whenever it ends in an orderly way: by /exit, Ctrl-C
// twice, a closed terminal, SIGTERM. When it is killed it does neither; but the next
// Claude Code removes the entry that was left. A prompt that was taken back before its
// answer began is left open, too.
func openTurn(s *session) (outcome adapters.Outcome, how string) {
	t := &s.facts.turn
	switch e := s.endedEntry; {
	case t.state == inAnswer && floor.IsOlder(s.facts.version):
		return "", "this version does not record that an answer is complete"
	case !t.closedBy.IsZero() && !t.closedBy.After(t.at.Add(clockSlack)):
		return adapters.Interrupted, "it ended in an orderly way with its turn open"
	case e != nil && !e.started.After(t.at.Add(clockSlack)):
		if e.since.After(t.at) && e.promptsUser() {
			return adapters.Interrupted, "its last prompt was taken back"
		}
		return adapters.Died, ""
	case kit.AtLeast(s.facts.version, firstClosing):
		return adapters.Died, "the process of its last turn did not record its end"
	case s.facts.hosted() && t.state != inAnswer:
		return adapters.Died, "the program that it ran in left its turn open"
	}
	return "", "this version records nothing that distinguishes an orderly end from a kill"
}

// promptsUser reports whether no turn was open according to the entry.
func (e *entry) promptsUser() bool { return e.status == "idle" || e.status == "shell" }

// inTurnAfter reports whether, according to the entry that was left behind, a turn was
// open after the transcript's last record: the prompt of that turn was not written yet.
func (e *entry) inTurnAfter(t *turn) bool {
	busy := e.status == "busy" || e.status == "waiting" && e.waitingFor != dialogOpen
	return busy && e.since.After(t.at) && t.state != unreadable
}

// outcomes has how turns ended that are over.
var outcomes = map[turnState]adapters.Outcome{endedWell: adapters.Completed, endedByUser: adapters.Interrupted, endedInError: adapters.Failed}

// outcome returns how the turn ended; "" if it is open, or that is not known.
func (t *turn) outcome() adapters.Outcome { return outcomes[t.state] }

// decideIdle completes the state of a live session whose turn is over according to
// the registry. The transcript may still show an open turn: of a prompt that was taken
// back before its answer began, or of a process that was killed before the session was
// opened again, or that had the session open at the same time.
func (d *discovery) decideIdle(v *adapters.State, s *session, e *liveEntry) {
	t := &s.facts.turn
	v.Status = adapters.Idle
	open := t.state == awaitsModel || t.state == callsTools
	switch s.turnEndPending = d.isBehind(s, e); {
	case s.leftTurn(e, open):
		s.turnEndPending = false
		v.Outcome = adapters.Died
		v.Evidence += "; " + s.endedEntry.leftOver(s.pidReused) + "; " + d.lastRecord(s)
	case s.turnEndPending:
		v.AskAgain = e.since.Add(idleDelay + clockSlack)
	case open && t.before(e):
		outcome, how := openTurn(s)
		v.Outcome = outcome
		v.Evidence += "; opened again since its last turn"
		if how != "" {
			v.Evidence += ": " + how
		}
		v.Evidence += "; " + d.lastRecord(s)
	case open && e.since.After(t.at):
		v.Outcome = adapters.Interrupted
		v.Evidence += "; its last prompt was taken back; " + d.lastRecord(s)
	default:
		v.Outcome = t.outcome()
		if t.state == inAnswer { // the registry says that the turn is over
			v.Outcome = adapters.Completed
		}
	}
	if e.status == "shell" {
		v.Evidence += " (a shell command runs in the background)"
	}
	if v.Outcome == adapters.Failed {
		v.Evidence += "; " + d.lastRecord(s)
	}
}

// leftTurn reports whether a process that was killed left its turn open, since the status of e changed last. open reports whether the
// transcript shows an open turn.
func (s *session) leftTurn(e *liveEntry, open bool) bool {
	ended, t := s.endedEntry, &s.facts.turn
	if ended == nil || ended.promptsUser() {
		return false
	}
	if ended.inTurnAfter(t) && ended.since.After(e.since) {
		return true
	}
	if ended.since.Before(e.since) && s.facts.promptAt.After(e.since) {
		return false // the prompt came after the kill: it is that of the process of e, whose entry says so in a moment
	}
	return open && !t.before(e) && !e.since.After(t.at) && !ended.started.After(t.at.Add(clockSlack))
}

// before reports whether the turn's last record is older than the process of the entry. The time in the entry is of the same
// clock as the record.
func (t *turn) before(e *liveEntry) bool {
	at := e.started
	if at.IsZero() {
		at = e.process.Started
	}
	return at.After(t.at.Add(clockSlack))
}

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
	if t.state != awaitsModel && t.state != callsTools || t.before(e) {
		return false
	}
	typed := d.typed(e, s.id).last
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
		return !t.before(e)
	}
	return e.interactive() && d.typed(e, s.id).prompt.at.After(t.at)
}

// idleDelay is the time after the end of a turn within which that end may not be
// written yet.
const idleDelay = 2 * time.Second
