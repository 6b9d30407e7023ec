package claudecode

import (
	"fmt"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/report"
)

// decideStopped returns the verdict on a session without a process.
func (d *discovery) decideStopped(s *session) report.Verdict {
	t := &s.facts.turn
	v := report.Verdict{Status: adapters.Stopped, Outcome: t.outcome(false, s.facts.version)}
	why, how := "no process", ""
	switch e := s.endedEntry; {
	case s.movedTo != "":
		why = s.movedTo
		v.Outcome = t.outcome(true, s.facts.version) // it did not die
	case s.foreignEntry != nil:
		why = fmt.Sprintf("the machine of %s has written nothing for %s", filepath.Base(s.foreignEntry.path), report.Span(d.now.Sub(s.lastSign(s.foreignEntry))))
	case e != nil && e.inTurnAfter(t):
		why, v.Outcome = e.leftOver(s.pidReused), adapters.Died
	case e != nil:
		why = e.leftOver(s.pidReused)
		fallthrough
	default:
		if v.Outcome == adapters.Died {
			v.Outcome, how = d.openTurn(s)
		}
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
// twice, a closed terminal, SIGTERM. When it is killed it does neither. A prompt that
// was taken back before its answer began is left open, too.
func (d *discovery) openTurn(s *session) (outcome adapters.Outcome, how string) {
	t := &s.facts.turn
	switch e := s.endedEntry; {
	case !t.closedBy.IsZero() && !t.closedBy.After(t.at.Add(clockSlack)):
		return adapters.Interrupted, "it ended in an orderly way with its turn open"
	case e != nil && !e.started.After(t.at.Add(clockSlack)):
		if e.since.After(t.at) && e.promptsUser() {
			return adapters.Interrupted, "its last prompt was taken back"
		}
		return adapters.Died, ""
	case t.closedBy.IsZero() && !d.leftAt(s).IsZero():
		return adapters.Interrupted, "the user left it"
	case recordsItsEnd(s.facts.version):
		return adapters.Died, "the process of its last turn did not record its end"
	case hasRegistry(s.facts.version) && d.sweptSince(s):
		return "", "another Claude Code has started since, which removes the registry entries of killed processes, so it is not known how this one ended"
	case hasRegistry(s.facts.version):
		return adapters.Interrupted, "its registry entry was removed: it ended in an orderly way with its turn open"
	}
	return "", "this version records nothing that distinguishes an orderly end from a kill"
}

// sweptSince reports whether a Claude Code began after the last record of s: 2.1.100
// removes the registry entries of killed processes when it starts. Such a process runs,
// or has written to a conversation, which may be an older one that it resumed. A process
// that began and ended without a prompt leaves no trace.
func (d *discovery) sweptSince(s *session) bool {
	t := &s.facts.turn
	if slices.ContainsFunc(d.table.claudes, func(p claude) bool { return p.excludedAs == "" && t.before(p.Process) }) {
		return true
	}
	for _, other := range d.sessions {
		if other == s || other.file == nil || s.file == nil || filepath.Dir(other.file.dir) != filepath.Dir(s.file.dir) {
			continue
		}
		began := func(e liveEntry) bool { return t.before(e.process) }
		if other.file.info.ModTime().After(t.at.Add(clockSlack)) && (len(other.live) == 0 || slices.ContainsFunc(other.live, began)) {
			return true
		}
	}
	return false
}

// promptsUser reports whether no turn was open according to the entry.
func (e *entry) promptsUser() bool { return e.status == "idle" || e.status == "shell" }

// inTurnAfter reports whether, according to the entry that was left behind, a turn was
// open after the transcript's last record: the prompt of that turn was not written yet.
func (e *entry) inTurnAfter(t *turn) bool {
	busy := e.status == "busy" || e.status == "waiting" && e.waitingFor != dialogOpen
	return busy && e.since.After(t.at) && t.state != unreadable
}

// outcome returns how the turn ended. An open turn of a session without a process was
// interrupted by the end of the process.
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
