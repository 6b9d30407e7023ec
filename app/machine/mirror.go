package machine

import (
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// answer is how an adapter of a machine answered.
type answer struct {
	state app.AdapterState
	err   string
}

// mirror contains what is known of one machine. It is not safe for concurrent use.
type mirror struct {
	name string

	rows     map[app.SessionKey]app.Session
	adapters map[adapters.Name]answer
	// incoming are the rows of a connection whose roll is not complete; nil: rows are those of the connection.
	incoming map[app.SessionKey]app.Session

	// kept are the rows of an earlier connection that stay because their agent could not be read since then.
	kept map[app.SessionKey]bool
	// waiting are the rows for which an event has reported that the session waits. The end of such a wait is always reported too.
	waiting map[app.SessionKey]bool

	minute time.Time // the minute in which events are counted
	events int
	spared int // events that were left out

	connected bool // the roll of this connection is complete
	known     bool // a roll has been complete once
	skew      time.Duration
	version   string // version of the Rollcall on the machine
	skipped   int    // rows that could not be used
	full      bool
	heard     time.Time
	began     time.Time // when this connection began
	took      time.Duration
	failed    string // why there is no connection
}

func newMirror(name string) *mirror {
	return &mirror{name: name, rows: map[app.SessionKey]app.Session{}, kept: map[app.SessionKey]bool{}, waiting: map[app.SessionKey]bool{}, adapters: map[adapters.Name]answer{}}
}

// begin prepares the mirror for a new connection. The rows stay, as stale ones, until the roll is complete.
func (m *mirror) begin(now time.Time) {
	m.incoming = map[app.SessionKey]app.Session{}
	m.connected = false
	m.skipped = 0
	m.full = false
	m.began = now
	m.adapters = map[adapters.Name]answer{}
}

// lose records why the connection ended.
func (m *mirror) lose(err error) {
	m.incoming = nil
	m.connected = false
	m.failed = present.Line(err.Error())
}

// maxSkew is how far apart two clocks may be without a correction: times are sent in whole seconds, and lines take time to arrive.
const maxSkew = 5 * time.Second

// take applies a line, and returns the events that follow from it.
func (m *mirror) take(l *line, now time.Time) (evs []app.Event) {
	m.heard = now
	switch l.Event {
	case "hello":
		if l.Hello == nil {
			return nil
		}
		m.version = oneLine(l.Hello.Version)
		m.skew = l.At.Sub(now)
		if m.skew.Abs() <= maxSkew {
			m.skew = 0
		}
	case "adapter":
		if a := l.Adapter; a != nil && agentName.MatchString(string(a.Name)) && (len(m.adapters) < maxAdapters || m.adapters[a.Name].state != "") {
			m.adapters[a.Name] = answer{a.State, oneLine(a.Error)}
			evs = m.dropKept(a.Name, now)
		}
	case "session":
		m.put(l.Session)
	case "removed":
		if l.Removed != nil {
			evs = m.remove(app.SessionKey{Agent: l.Removed.Agent, ID: app.MachineID(m.name, l.Removed.ID)}, now)
		}
	case "roll":
		evs = m.complete(now)
	case string(app.Started), string(app.Changed), string(app.Ended):
		if e, ok := m.event(l, now); ok {
			evs = m.tell(e, now)
		}
	}
	return evs
}

// tell returns the event, unless there were too many. It never omits the event that ends a wait which an earlier event reported, since the wait would otherwise
// be shown forever.
func (m *mirror) tell(e app.Event, now time.Time) []app.Event {
	k := e.Session.Key()
	waits := e.Kind != app.Ended && e.Session.Status == adapters.Waiting
	over := m.waiting[k] && !waits
	if !m.mayTell(now) && !over {
		return nil
	}
	if waits {
		m.waiting[k] = true
	} else {
		delete(m.waiting, k)
	}
	return []app.Event{e}
}

// remove removes a row. If an event has reported that the session waits, remove returns the event that ends the wait.
func (m *mirror) remove(k app.SessionKey, now time.Time) (evs []app.Event) {
	was, listed := m.current()[k]
	delete(m.current(), k)
	if listed && m.connected && m.waiting[k] {
		delete(m.waiting, k)
		evs = []app.Event{was.NoLongerShown(now)}
	}
	return evs
}

// dropKept removes the rows that were kept while an agent could not be read, if the agent does not list them now that it can be read.
func (m *mirror) dropKept(agent adapters.Name, now time.Time) (evs []app.Event) {
	if !m.connected || m.adapters[agent].state == app.Failed {
		return nil
	}
	for k := range m.kept {
		if k.Agent != agent {
			continue
		}
		if was := m.rows[k]; was.Live() && !was.IsProcess() {
			evs = append(evs, m.endedMeanwhile(was, now))
		}
		delete(m.rows, k)
		delete(m.kept, k)
		delete(m.waiting, k)
	}
	return evs
}

// maxEvents is the largest number of events of one machine that are delivered in a minute.
const maxEvents = 300

// mayTell counts an event, and reports whether it may be delivered.
func (m *mirror) mayTell(now time.Time) bool {
	if now.Sub(m.minute) > time.Minute {
		m.minute = now
		m.events = 0
		m.spared = 0
	}
	if m.events++; m.events > maxEvents {
		m.spared++
		return false
	}
	return true
}

// maxAdapters is larger than the number of agents.
const maxAdapters = 50

// current returns the rows that the lines of the stream change.
func (m *mirror) current() map[app.SessionKey]app.Session {
	if m.incoming != nil {
		return m.incoming
	}
	return m.rows
}

// put adds or replaces a row.
func (m *mirror) put(w *SessionJSON) (s app.Session, ok bool) {
	if w == nil {
		return s, false
	}
	s, ok = w.session(m.name, m.skew)
	if !ok {
		m.skipped++
		return s, false
	}
	delete(m.kept, s.Key())
	rows := m.current()
	if _, replaces := rows[s.Key()]; !replaces && len(rows) >= maxSessions {
		m.full = true
		return s, false
	}
	rows[s.Key()] = s
	return s, true
}

// event returns an event of the machine. Until the roll is complete there are no events: complete determines what happened meanwhile.
func (m *mirror) event(l *line, now time.Time) (app.Event, bool) {
	s, ok := m.put(l.Session)
	if !ok || !m.connected {
		return app.Event{}, false
	}
	e := app.Event{Kind: app.EventKind(l.Event), At: now, Session: s}
	if l.Was != nil {
		if was, ok := l.Was.session(m.name, m.skew); ok && was.ID == s.ID {
			e.Before = was
		}
	}
	if e.Kind == app.Ended && l.Process != "" {
		e.MachineProcess = m.name + " " + present.Cut(oneLine(l.Process), 100)
	}
	return e, true
}

// complete replaces the rows with those of the new connection. It returns events for the differences from the last connection; the first roll causes no events.
// Rows of an agent that could not be read on the machine this time are kept as stale.
func (m *mirror) complete(now time.Time) (evs []app.Event) {
	if m.incoming == nil {
		return nil
	}
	before, after := m.rows, m.incoming
	m.kept, m.waiting = map[app.SessionKey]bool{}, map[app.SessionKey]bool{}
	for k, was := range before {
		s, listed := after[k]
		a := m.adapters[k.Agent]
		switch {
		case !listed && a.state == app.Failed:
			was.Stale = &app.Stale{Since: m.seen(&was), Reason: a.err}
			after[k], m.kept[k] = was, true
		case !was.Live() || was.IsProcess():
		case !listed:
			evs = append(evs, m.endedMeanwhile(was, now))
		case !s.Live():
			evs = append(evs, m.ended(s, was, now))
		case was.Status != s.Status || was.WaitingFor != s.WaitingFor || was.Suspended != s.Suspended:
			evs = append(evs, app.Event{Kind: app.Changed, At: now, Session: s, Before: was})
		}
	}
	for k, s := range after {
		if s.Status == adapters.Waiting {
			m.waiting[k] = true
		}
		if was, listed := before[k]; s.Live() && !s.IsProcess() && (!listed || !was.Live()) {
			evs = append(evs, app.Event{Kind: app.Started, At: now, Session: s})
		}
	}
	if !m.known {
		evs = nil
	}
	m.rows, m.incoming = after, nil
	m.connected = true
	m.known = true
	m.failed = ""
	m.took = now.Sub(m.began)
	slices.SortFunc(evs, func(a, b app.Event) int { return a.Session.LastActivityAt.Compare(b.Session.LastActivityAt) })
	return evs
}

// seen returns when a row was last known to be correct.
func (m *mirror) seen(s *app.Session) time.Time {
	if s.Stale != nil {
		return s.Stale.Since
	}
	return m.heard
}

// endedMeanwhile returns the end of a session that is no longer listed after a time without connection.
func (m *mirror) endedMeanwhile(was app.Session, now time.Time) app.Event {
	return m.ended(was.Removed(m.name+" no longer lists it after a time without connection"), was, now)
}

func (m *mirror) ended(s, was app.Session, now time.Time) app.Event {
	e := app.Event{Kind: app.Ended, At: now, Session: s, Before: was}
	if was.Remote == m.name {
		e.MachineProcess = fmt.Sprintf("%s %s %s", m.name, s.ID, now.UTC().Format(time.RFC3339Nano))
	}
	return e
}

// roll returns the roll of the machine as it is to be shown.
func (m *mirror) roll() app.MachineRoll {
	r := app.MachineRoll{MachineHealth: app.MachineHealth{Name: m.name, State: app.OK, Answered: m.heard, Elapsed: m.took}}
	switch {
	case m.failed != "":
		r.State, r.Problems = app.Failed, []string{m.failed}
	case !m.connected:
		r.State = app.Pending
	default:
		r.Problems = m.problems()
		if len(r.Problems) > 0 {
			r.State = app.Failed
		}
	}
	r.Sessions = make([]app.Session, 0, len(m.rows))
	for _, s := range m.rows {
		if m.failed != "" {
			s.Stale = &app.Stale{Since: m.heard, Reason: m.failed}
		}
		r.Sessions = append(r.Sessions, s)
	}
	app.Sort(r.Sessions)
	return r
}

// partial returns the rows received of a roll that is not complete. why becomes the machine's problem.
func (m *mirror) partial(now time.Time, why string) app.MachineRoll {
	if m.incoming != nil {
		m.rows, m.incoming = m.incoming, nil
	}
	r := app.MachineRoll{MachineHealth: app.MachineHealth{Name: m.name, State: app.Failed, Problems: []string{why}, Answered: m.heard, Elapsed: now.Sub(m.began)}}
	for _, s := range m.rows {
		r.Sessions = append(r.Sessions, s)
	}
	app.Sort(r.Sessions)
	return r
}

// problems returns what is missing from a complete roll.
func (m *mirror) problems() (out []string) {
	if m.full {
		out = append(out, fmt.Sprintf("more than %d sessions: the others are left out", maxSessions))
	}
	if m.spared > 0 {
		out = append(out, fmt.Sprintf("more than %d events in a minute: there were no notifications for %d of them", maxEvents, m.spared))
	}
	if m.skipped > 0 {
		out = append(out, fmt.Sprintf("%d rows could not be used: their agent or id is not valid", m.skipped))
	}
	for name, a := range m.adapters {
		if a.state == app.Failed {
			out = append(out, fmt.Sprintf("%s: %s", name, a.err))
		}
	}
	slices.Sort(out)
	return out
}
