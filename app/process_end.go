package app

import (
	"cmp"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app/lock"
	"rollcall/bounded"
	"rollcall/proc"
)

// keepProcessEnd is the time for which a processEnd is kept while another process of its folder may
// have the session.
const keepProcessEnd = time.Minute

// processEnd is the end of a process that was shown without a session. Pi before 0.87 stores a session with its first
// answer, and with -p it ends right afterwards: such a session has already stopped when it is first seen.
type processEnd struct {
	row     Session // of the process, as it was shown last
	process proc.Identity
	at      time.Time // when the end of the process was noticed
	// final reports that the current answer was read after the end.
	final bool
	// others is the process's lifetime.otherSessions.
	others map[string]otherSession
}

// storedBeforeEnd is the longest time between the storing of a session and the end of its process: Pi 0.73.1 takes up to 2
// s, and longer on a very busy machine.
const storedBeforeEnd = 10 * time.Second

// otherSession is a session that was stopped while a process without a session was running.
type otherSession struct {
	active time.Time // when it was written last
	seen   time.Time // when it was first seen like this
}

// noteOtherSessions records which sessions are stopped while l's process, which has no session, runs. If the process
// still runs some time later, these sessions are not its own, unless they are written again.
func (l *lifetime) noteOtherSessions(shown []Session) {
	for i := range shown {
		x := &shown[i]
		if x.Live() || x.LastActivityAt.Before(l.session.StartedAt) {
			continue
		}
		if l.otherSessions == nil {
			l.otherSessions = map[string]otherSession{}
		}
		if o, ok := l.otherSessions[x.ID]; !ok || x.LastActivityAt.After(o.active) {
			l.otherSessions[x.ID] = otherSession{active: x.LastActivityAt, seen: time.Now()}
		}
	}
}

// finishProcess handles a process without a session whose row is no longer shown: the process now has a session that is
// shown, or it has ended or will end soon. Neither causes an event. finishProcess records an end, since the process may have
// stored a session right before.
func (s *source) finishProcess(l *lifetime, now *liveness) {
	switch {
	case s.hasSession(l.session.Process):
		delete(s.lifetimes, l.session.ID)
	case slices.ContainsFunc(l.processes, now.notEnded):
		l.stopped, l.stoppedAs = true, l.session
	default:
		delete(s.lifetimes, l.session.ID)
		s.processEnds = append(s.processEnds, processEnd{row: l.session, process: l.session.Process, at: time.Now(),
			final: now.wasDead(l.session.Process), others: l.otherSessions})
	}
}

// hasSession reports whether a session is shown in a process.
func (s *source) hasSession(id proc.Identity) bool {
	for _, l := range s.lifetimes {
		if !l.stopped && l.session.Process == id && !l.session.IsProcess() {
			return true
		}
	}
	return false
}

// storedAtTheEnd returns the ends of the sessions that were stored right before
// their process ended, and so were never shown live: one for each process.
func (s *source) storedAtTheEnd(shown []Session, a *Answer) []Event {
	if len(s.processEnds) == 0 || a.IDs != nil || !a.complete() {
		return nil
	}
	m := endMatcher{source: s, shown: shown, matched: map[string]bool{}}
	slices.SortStableFunc(s.processEnds, func(a, b processEnd) int { return b.row.StartedAt.Compare(a.row.StartedAt) })
	// If several processes end together, a process in which the session may have started is preferred to one that may have
	// resumed it.
	for _, fresh := range []bool{true, false} {
		s.processEnds = slices.DeleteFunc(s.processEnds, func(e processEnd) bool { return e.final && m.findSession(&e, fresh) })
	}
	s.processEnds = slices.DeleteFunc(s.processEnds, func(e processEnd) bool {
		return e.final && (!m.mayMatchLater(&e) || a.At.Sub(e.at) > keepProcessEnd)
	})
	for i := range s.processEnds {
		s.processEnds[i].final = true
	}
	return m.events
}

// endMatcher finds the sessions of ended processes.
type endMatcher struct {
	*source
	shown   []Session
	matched map[string]bool
	events  []Event
}

// findSession adds the end of the session that e's process stored, and reports whether
// there is one. With fresh set, the session must have started in the process.
func (m *endMatcher) findSession(e *processEnd, fresh bool) bool {
	var found *Session
	for i := range m.shown {
		x := &m.shown[i]
		if fresh == x.StartedAt.Before(e.row.StartedAt) || !m.fits(x, e) || m.hasRival(x) {
			continue
		}
		if found == nil || cmp.Or(x.StartedAt.Compare(found.StartedAt), cmp.Compare(x.ID, found.ID)) < 0 {
			found = x
		}
	}
	if found == nil {
		return false
	}
	m.matched[found.ID] = true
	at := time.Now()
	m.ended[found.ID] = at
	if e.row.Parent == "" { // a sub-agent's file does not name its parent
		m.events = append(m.events, Event{Kind: Ended, At: at, Session: *found, Process: e.process})
	}
	return true
}

// mayMatchLater reports whether e's process may have stored a session that may also
// belong to a live process.
func (m *endMatcher) mayMatchLater(e *processEnd) bool {
	for i := range m.shown {
		if x := &m.shown[i]; m.fits(x, e) && m.hasRival(x) {
			return true
		}
	}
	return false
}

// fits reports whether x can be the session that e's process stored: a main session of
// its folder that has stopped, was active while the process lived, and has had no event
// since.
func (m *endMatcher) fits(x *Session, e *processEnd) bool {
	if x.Status != adapters.Stopped || x.Stale != nil || x.Parent != "" || m.matched[x.ID] || m.lifetimes[x.ID] != nil {
		return false
	}
	if x.LastActivityAt.Before(e.row.StartedAt) || x.LastActivityAt.After(e.at) {
		return false
	}
	if x.Launch != nil && x.Launch.Unlisted { // no session was stored
		return false
	}
	if o, ok := e.others[x.ID]; ok && !x.LastActivityAt.After(o.active) && e.at.Sub(o.seen) >= storedBeforeEnd {
		return false
	}
	if at, ok := m.ended[x.ID]; ok && !x.LastActivityAt.After(at) {
		return false
	}
	return sameFolder(x, &e.row)
}

// hasRival reports whether a live process without a session was in x's folder when x was
// last written.
func (m *endMatcher) hasRival(x *Session) bool {
	for _, l := range m.lifetimes {
		if l.session.IsProcess() && !l.session.StartedAt.After(x.LastActivityAt) && sameFolder(x, &l.session) {
			return true
		}
	}
	return false
}

// sameFolder reports whether two sessions work in one folder of one machine.
func sameFolder(x, y *Session) bool {
	if x.CWD == "" || x.Remote != y.Remote || x.Container != y.Container {
		return false
	}
	return x.CWD == y.CWD || x.HasLocalFolder() && bounded.Answers(x.CWD) && bounded.Answers(y.CWD) && lock.Same(x.CWD, y.CWD)
}
