package app

import (
	"cmp"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// closedWithProcess is how long before the end of a process with several sessions one of them can be closed and still count as ended with it.
// Agents drop their claims up to a second before they exit on a quiet machine (Qwen Code 0.24.4 and Copilot CLI 1.0.102 in ACP, Codex 0.171.0's
// app-server), and a host can close the sessions one after the other.
const closedWithProcess = time.Minute

// lifetime holds the state of a session from the answer that lists it as live until the end of its process.
type lifetime struct {
	session   Session // as it was last shown live
	processes []proc.Identity
	// beside reports that its process had another session, too, when it was last shown live.
	beside bool
	// stopped reports that an event for the stop of the session was emitted, with stoppedAs, while its process still
	// runs: agents store their end a moment before it.
	stopped   bool
	stoppedAs Session
	stoppedAt time.Time
	answered  bool // the current answer lists the session
	// terminal is the last one that was certain to show the session. It counts for events only: no status follows from it.
	terminal proc.Identity
}

// advance updates the lifetimes with the rows that are shown now and returns the events.
func (s *source) advance(shown []Session, a *Answer, now *liveness) []Event {
	quiet := !s.scanned || s.recovering(a)
	hosts, listed := hostsOf(shown), processesOf(a.Sessions)
	var evs []Event
	s.adoptLaunches(shown)
	for i := range shown {
		x := &shown[i]
		l := s.lifetimes[x.ID]
		if l != nil {
			l.answered = true
		}
		if !x.Live() || s.hasEnded(x, l, now) {
			if l != nil && a.asked(x.ID) { // otherwise a question about the session follows
				evs = append(evs, s.finish(l, *x, hosts, now)...)
			}
			continue
		}
		if l == nil {
			l = &lifetime{stopped: true, answered: true}
			s.lifetimes[x.ID] = l
		}
		delete(s.ended, x.ID)
		l.terminal = cmp.Or(x.Terminal, l.terminal)
		l.beside = hostsAnother(x, hosts[x.Process])
		if e, ok := l.markLive(*x, quiet); ok && (!x.IsProcess() || x.Unstored) {
			e.TerminalEnded = l.terminalEnded(x, now)
			evs = append(evs, e)
		}
		if ps := listed[x.ID]; ps != nil {
			l.processes = l.keepProcesses(ps, hosts, now)
		}
	}
	evs = append(evs, s.finishContinued(shown, now)...)
	evs = append(evs, s.finishUnlisted(a, hosts, now)...)
	s.recordAnswer(a)
	return orderEvents(evs)
}

// finishContinued handles the sessions that are not listed because one that is shown goes on with them: their end is not told.
func (s *source) finishContinued(shown []Session, now *liveness) (evs []Event) {
	for i := range shown {
		if l := s.lifetimes[shown[i].Continues]; l != nil {
			x := l.session.Removed("it goes on as session " + shown[i].ID)
			x.ContinuedIn = shown[i].ID
			evs = append(evs, s.finish(l, x, nil, now)...)
		}
	}
	return evs
}

// finishUnlisted updates the lifetimes whose sessions are not shown. It resets answered
// for the next answer.
func (s *source) finishUnlisted(a *Answer, hosts map[proc.Identity][]string, now *liveness) []Event {
	var evs []Event
	for id, l := range s.lifetimes {
		switch {
		case l.answered:
			l.answered = false
		case len(l.processes) == 0 && a.lacksRemote(&l.session.Session):
			delete(s.lifetimes, id)
			x := l.session.Removed(l.session.Remote + " answered and no longer lists it")
			evs = append(evs, Event{Kind: Ended, At: time.Now(), Session: x, Before: l.session})
		case l.stopped && !l.stoppedAs.Live():
			evs = append(evs, s.finish(l, l.stoppedAs, hosts, now)...)
		default:
			evs = append(evs, s.finish(l, unlistedSession(l.session, now), hosts, now)...)
		}
	}
	return evs
}

// finishProcess handles a process without a session whose row is no longer shown: the process now has a session that is
// shown, or it has ended or will end soon. Neither causes an event.
func (s *source) finishProcess(l *lifetime, now *liveness) {
	if !s.hasSession(l.session.Process) && slices.ContainsFunc(l.processes, now.notEnded) {
		l.stopped, l.stoppedAs = true, l.session
		return
	}
	delete(s.lifetimes, l.session.ID)
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

// adoptLaunches moves the lifetimes of launches to the sessions that their agent now lists under their own ids, without an
// event. A session that has a lifetime keeps it.
func (s *source) adoptLaunches(shown []Session) {
	for id, l := range s.lifetimes {
		own := l.session.Launch
		if own == nil || !own.Unlisted || slices.ContainsFunc(shown, func(x Session) bool { return x.ID == id }) {
			continue
		}
		i := slices.IndexFunc(shown, func(x Session) bool { return x.Launch != nil && x.Launch.ID == own.ID }) // shown is sorted: a live session comes first
		if i < 0 {
			continue
		}
		delete(s.lifetimes, id)
		x := &shown[i]
		if x.IsProcess() || s.lifetimes[x.ID] != nil {
			continue
		}
		s.lifetimes[x.ID] = l
		if hasProcess(x) {
			l.processes = nil // they may include a wrapper's process
		}
	}
}

// hasEnded reports whether x is listed as unknown although it is over: its process has
// ended, and its agent's files do not contain the end.
func (s *source) hasEnded(x *Session, l *lifetime, now *liveness) bool {
	if x.ContinuedIn != "" {
		return true
	}
	if x.Status != adapters.Unknown || x.Remote != "" || !x.Process.IsZero() {
		return false
	}
	if l == nil {
		_, ended := s.ended[x.ID]
		return ended
	}
	return len(l.processes) > 0 && !slices.ContainsFunc(l.processes, now.notEnded)
}

// markLive records that the session is live as x and returns the event to emit, if any.
// quiet suppresses the event of a start.
func (l *lifetime) markLive(x Session, quiet bool) (e Event, ok bool) {
	before, over := l.session, l.stopped
	if over {
		before = l.stoppedAs
	} else if isUndecided(&before, &x) {
		return Event{}, false // its adapter is asked again in a moment
	}
	l.session = x
	l.stopped = false
	l.stoppedAs = Session{}
	e = Event{At: time.Now(), Session: x}
	switch {
	case over && (before.ID == "" || !before.Live()):
		e.Kind = Started
		return e, !quiet
	case before.Status != x.Status || before.WaitingFor != x.WaitingFor || before.Suspended != x.Suspended:
		e.Kind, e.Before = Changed, before
		return e, true
	case x.Status == adapters.Waiting && before.Stale != nil && x.Stale == nil && x.LastActivityAt.After(before.LastActivityAt):
		e.Kind, e.Before = Changed, before // while it could not be read, the session began to wait for another request
		return e, true
	}
	return e, false
}

// isUndecided reports whether how the turn of a session ended is not decided yet. Its end is told when that is.
func isUndecided(before, x *Session) bool {
	return before.InTurn() && x.Status == adapters.Idle && x.Outcome == "" && !x.AskAgain.IsZero()
}

// finish handles a session that is shown as x and no longer live. It returns an Ended
// event once every process of the session has ended, a Changed event if a process lives
// on, and nothing while the exit watcher has yet to confirm an end.
func (s *source) finish(l *lifetime, x Session, hosts map[proc.Identity][]string, now *liveness) []Event {
	keepFacts(&x, &l.session)
	e := Event{Kind: Changed, At: time.Now(), Session: x, Before: l.session, TerminalEnded: l.terminalEnded(&x, now)}
	drop := func() { delete(s.lifetimes, x.ID) }
	switch {
	case x.IsProcess() && !x.Unstored:
		s.finishProcess(l, now)
		return nil
	case x.ContinuedIn != "", l.closedLongAgo(e.At), l.isReplaced(hosts): // its process, or another session, went on without it
		drop()
	case len(l.processes) == 0: // no process of this machine: its end can't be seen
		drop()
	case !slices.ContainsFunc(l.processes, now.notEnded):
		drop()
		e.Kind, e.Process = Ended, l.processes[len(l.processes)-1]
		s.ended[x.ID] = e.At
		e.addLastLook()
		return []Event{e}
	case !slices.ContainsFunc(l.processes, now.alive):
		return nil // the exit watcher will soon report the end
	}
	if l.stopped {
		return nil
	}
	l.stopped = true
	l.stoppedAs = x
	l.stoppedAt = e.At
	return []Event{e}
}

// closedLongAgo reports whether the process went on without the session, so that it will not end with it.
func (l *lifetime) closedLongAgo(now time.Time) bool {
	return l.stopped && (l.session.Shared || l.beside) && now.Sub(l.stoppedAt) > closedWithProcess
}

// isReplaced reports whether the process of the session, which had no other, has taken up another one in its place, or goes on with the parent
// of a sub-agent that is done.
func (l *lifetime) isReplaced(hosts map[proc.Identity][]string) bool {
	alone := !l.session.Shared && !l.beside
	return (alone || l.session.Parent != "") && slices.ContainsFunc(l.processes, func(p proc.Identity) bool { return hostsAnother(&l.session, hosts[p]) })
}

// terminalEnded reports whether the last terminal that was certain to show x has ended.
func (l *lifetime) terminalEnded(x *Session, now *liveness) bool {
	return x.Terminal.IsZero() && !l.terminal.IsZero() && !now.alive(l.terminal)
}

// keepFacts copies to x, a session that is no longer listed, what was known of it while it was live: for example, the folder
// of a session without a record is known only from its process.
func keepFacts(x, live *Session) {
	x.CWD, x.Host = cmp.Or(x.CWD, live.CWD), cmp.Or(live.Host, x.Host) // the files name the SDK that an editor's adapter uses, not the editor
	if x.FirstPrompt == "" && x.LastPrompt == "" && x.Title == "" {
		x.FirstPrompt = live.FirstPrompt
		x.LastPrompt = live.LastPrompt
		x.Title = live.Title
	}
}

// hostsAnother reports whether hosted, the sessions of a process, contains a session other than x.
func hostsAnother(x *Session, hosted []string) bool {
	return slices.ContainsFunc(hosted, func(id string) bool { return id != x.ID })
}

// keepProcesses returns the processes of a session that is listed with the processes listed. It also keeps earlier processes
// that still run and have no other session.
func (l *lifetime) keepProcesses(listed []proc.Identity, hosts map[proc.Identity][]string, now *liveness) []proc.Identity {
	out := make([]proc.Identity, 0, len(listed))
	for _, p := range l.processes {
		if !slices.Contains(listed, p) && now.alive(p) && !hostsAnother(&l.session, hosts[p]) {
			out = append(out, p)
		}
	}
	return append(out, listed...)
}

// hostsOf returns the ids of the main sessions of each process. It leaves out sub-agents,
// which start and end in their parent's process, and the rows of processes without a
// session: an agent that has stored its session's end may run on for a moment.
func hostsOf(shown []Session) map[proc.Identity][]string {
	out := map[proc.Identity][]string{}
	for i := range shown {
		if x := &shown[i]; x.Live() && !x.Process.IsZero() && x.Parent == "" && !x.IsProcess() {
			out[x.Process] = append(out[x.Process], x.ID)
		}
	}
	return out
}

// processesOf returns the processes of each session that is listed live. A session can be open in two processes.
func processesOf(list []adapters.Session) map[string][]proc.Identity {
	out := map[string][]proc.Identity{}
	for i := range list {
		if x := &list[i]; x.Live() && x.Remote == "" && !x.Process.IsZero() && !slices.Contains(out[x.ID], x.Process) {
			out[x.ID] = append(out[x.ID], x.Process)
		}
	}
	return out
}

// unlistedSession returns a session as it is shown when its adapter no longer lists it.
func unlistedSession(x Session, now *liveness) Session {
	if gone(&x.Session, now.alive) {
		return stoppedSession(x)
	}
	x.Become(adapters.Unknown, "its agent no longer lists it; before: ")
	x.Stale = nil
	return x
}

// Removed returns a session as it is shown when the gateway or machine that ran it no longer lists it. why is the reason.
// How an open turn ended is not known.
func (s *Session) Removed(why string) Session {
	x := *s
	x.Become(adapters.Stopped, why+"; before: ")
	x.Stale = nil
	return x
}

// recovering reports whether a may contain sessions that the answer before it lacked because a file could not be read. Such
// sessions did not start now.
func (s *source) recovering(a *Answer) bool {
	return s.lastErr != "" && (a.Err == nil || a.Err.Error() != s.lastErr)
}

// recordAnswer records what the events of the next answer depend on.
func (s *source) recordAnswer(a *Answer) {
	if a.IDs != nil {
		return
	}
	s.lastErr = ""
	if !a.complete() {
		s.lastErr = a.Err.Error()
	}
	if a.complete() || len(a.Sessions) > 0 {
		s.scanned = true
	}
}

// orderEvents sorts events: changes, starts, ends. It puts the ends of one process's
// sessions one after the other, and sets their With.
func orderEvents(evs []Event) []Event {
	var changed, started, ended []Event
	for _, e := range evs {
		switch e.Kind {
		case Ended:
			ended = append(ended, e)
		case Started:
			started = append(started, e)
		default:
			changed = append(changed, e)
		}
	}
	slices.SortStableFunc(ended, func(a, b Event) int {
		if a.Process != b.Process {
			return cmp.Or(cmp.Compare(a.Process.PID, b.Process.PID), cmp.Compare(a.Process.Start, b.Process.Start))
		}
		return compareSessions(&a.Session, &b.Session)
	})
	for i := range ended {
		for j := range ended {
			if i != j && ended[i].Process == ended[j].Process && !ended[i].Process.IsZero() {
				ended[i].With = append(ended[i].With, ended[j].Session)
			}
		}
	}
	return slices.Concat(changed, started, ended)
}

// addLastLook adds to the end of a session what the last answer before it saw, which no row has: if no turn was open then, and the agent's files
// leave one open although nothing was recorded since, that turn did not die now. If they don't say whether the agent answered or asked, the last answer may.
func (e *Event) addLastLook() {
	x, before := &e.Session, &e.Before
	newer := x.LastActivityAt.After(before.LastActivityAt)
	switch {
	case x.MayAsk && !newer && before.Status == adapters.Waiting:
		x.Outcome = adapters.Died
		x.MayAsk = false
		x.Evidence = "it waited for you when Rollcall last saw it alive, and nothing was recorded since; its agent's files: " + x.Evidence
	case x.MayAsk && !newer && before.Outcome != "" && e.BetweenTurns():
		x.Outcome = before.Outcome
		x.MayAsk = false
		x.Evidence = overWhenSeen + x.Evidence
	case x.Outcome == adapters.Died && e.BetweenTurns():
		e.addOver(newer)
	}
}

const overWhenSeen = "its turn was over when Rollcall last saw it alive, and nothing was recorded since; its agent's files: "

// addOver changes the end of a session whose files leave a turn open, and that was between turns in the last answer before it. newer reports that something was
// recorded since.
func (e *Event) addOver(newer bool) {
	x, before := &e.Session, &e.Before
	sameTurn := !newer || !before.TurnStartedAt.IsZero() && before.TurnStartedAt.Equal(x.TurnStartedAt)
	switch {
	case before.Outcome == adapters.Died && sameTurn:
		x.Outcome = ""
		x.Evidence = "no turn was open when its process ended; the turn before had died: " + x.Evidence
	case before.Outcome != adapters.Died && !newer:
		x.Outcome = before.Outcome
		x.Evidence = overWhenSeen + x.Evidence
	}
}

// BetweenTurns reports whether the last turn of the session was over before e.
func (e *Event) BetweenTurns() bool {
	return e.Before.Status == adapters.Idle && !e.Before.Suspended
}

// TurnLength returns how long the last turn ran: until its last record, or, if the agent recorded no end of it, until e. It returns false where that is not known.
func (e *Event) TurnLength() (took time.Duration, ok bool) {
	start, end := e.turnStart(), e.At
	if e.BetweenTurns() || end.IsZero() {
		end = e.Session.LastActivityAt
		if before := e.Before.LastActivityAt; e.BetweenTurns() && !before.IsZero() && before.Before(end) {
			end = before // agents may store a record of their end
		}
	} else if last := e.Session.LastActivityAt; (turnEnded(e.Session.Outcome) || e.Session.MayAsk) && last.After(start) && last.Before(end) {
		end = last // the end may have been noticed late
	}
	if start.IsZero() || end.IsZero() || end.Before(start) {
		return 0, false
	}
	return end.Sub(start), true
}

// turnEnded reports whether the agent recorded the end of a turn with that outcome, as its last record.
func turnEnded(o adapters.Outcome) bool {
	return o == adapters.Completed || o == adapters.Failed || o == adapters.Interrupted
}

// turnStart returns when the last turn began. Where the agent does not store that, it
// returns the session's start, if there was only one prompt.
func (e *Event) turnStart() time.Time {
	for _, s := range []*Session{&e.Session, &e.Before} {
		switch {
		case !s.TurnStartedAt.IsZero():
			return s.TurnStartedAt
		case !s.StartedAt.IsZero() && s.LastPrompt == s.FirstPrompt && (s.LastPrompt != "" || s.Outcome != "" || !e.BetweenTurns()):
			return s.StartedAt
		}
	}
	return time.Time{}
}
