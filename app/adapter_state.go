package app

import (
	"errors"
	"maps"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// source holds one adapter and the state of its last answer.
type source struct {
	adapter adapters.Adapter
	turn    chan struct{} // holds a token while a question is under way
	urgent  chan struct{} // receives a value when a question about an ended process waits for the current question
	// interrupt receives a value when a question about the live sessions waits for the current question, which is about all.
	interrupt chan struct{}

	// Owned by the holder of turn.
	last      *call[discovery] // the newest call; it may still hang
	shown     []Session
	lifetimes map[string]*lifetime
	ended     map[string]time.Time        // when sessions ended, while the core was running
	reported  map[string]adapters.Session // what the adapter reported of the sessions that are shown differently

	scanned bool   // the first scan is over, so changes are events
	lastErr string // of the last answer about all sessions

	// Guarded by Core.mu.
	health  Health
	public  []Session // shown, as the snapshot has it
	changed bool      // public has changed since Core.known was merged
	limits  []string  // describe what can't be watched
	// unreadable are the problems of the last answer with places that the poller tries
	// to open.
	unreadable       []*adapters.Problem
	asking           int
	flight           *flight
	watches          map[proc.Identity]*exitWatch
	agentProcesses   map[proc.Identity]bool // processes of its agent, whose end is watched
	places           *watchList             // for Run to watch; nil: nothing new
	totalsKnown      bool                   // exact tokens are cheap to read now: see Core.addTotals
	exited           bool                   // one of its processes ended, for Run to refresh
	refreshRequested bool                   // it may have changed, for Run to refresh
}

// watchList holds the folders that an adapter wants to be watched, the places where it
// looked, and which of all these were missing after its answer.
type watchList struct{ watch, lookedIn, missing []string }

func (l *watchList) all() []string { return slices.Concat(l.watch, l.lookedIn) }

func newSource(a adapters.Adapter) *source {
	return &source{
		adapter:        a,
		turn:           make(chan struct{}, 1),
		urgent:         make(chan struct{}),
		interrupt:      make(chan struct{}),
		lifetimes:      map[string]*lifetime{},
		ended:          map[string]time.Time{},
		reported:       map[string]adapters.Session{},
		health:         Health{Name: a.Name(), State: Pending},
		watches:        map[proc.Identity]*exitWatch{},
		agentProcesses: map[proc.Identity]bool{},
	}
}

// settle shows an answer: it updates the rows, publishes the events and watches the
// processes.
func (c *Core) settle(s *source, q question, a answer, now *liveness) {
	maps.DeleteFunc(s.ended, func(_ string, at time.Time) bool { return a.At.Sub(at) > keepEnded })
	cutoff := c.cutoff(a.At)
	rows := Reconcile(Input{Before: s.reportedRows(), Answer: a.Answer, Alive: now.alive})
	a.addLaunchRecords(rows)
	c.addMarks(s.adapter.Name(), rows)
	rows = slices.DeleteFunc(rows, func(r Session) bool { return s.tooOld(&r, cutoff) })
	c.addProcessState(s, rows, now)
	s.shown = sortSessions(rows)
	if q.isFull() && a.Err == nil {
		s.forgetEnded(rows)
	}
	a.addLaunchesOfUnlisted(s.shown, s.lifetimes)
	evs := s.advance(s.shown, &a.Answer, now)
	c.watchProcesses(s)

	c.mu.Lock()
	defer c.mu.Unlock()
	s.public, s.changed = s.shown, true
	s.health = s.health.withAnswer(q, a)
	s.noteUnreadable(q, a.Err)
	if q.isFull() && a.places != nil {
		s.places = a.places
	}
	if q.flight != nil {
		c.finishFlightLocked(s, q.flight)
	}
	c.publishLocked()
	c.deliverLocked(evs)
	c.wake.Set()
}

// forgetEnded forgets the ended sessions that their agent no longer lists.
func (s *source) forgetEnded(rows []Session) {
	if len(s.ended) == 0 {
		return
	}
	listed := make(map[string]bool, len(rows))
	for i := range rows {
		listed[rows[i].ID] = true
	}
	maps.DeleteFunc(s.ended, func(id string, _ time.Time) bool { return !listed[id] })
}

// tooOld reports whether a stopped session is too old to be shown. It records the end of
// a session that stopped while the core was running.
func (s *source) tooOld(r *Session, cutoff time.Time) bool {
	if r.Live() || r.LastActivityAt.IsZero() || !r.LastActivityAt.Before(cutoff) {
		return false
	}
	if l := s.lifetimes[r.ID]; l != nil && !l.stopped {
		s.ended[r.ID] = time.Now()
	}
	_, kept := s.ended[r.ID]
	return !kept
}

func (h Health) withAnswer(q question, a answer) Health {
	switch {
	case isAbsent(a.Err):
		h.State, h.Problems = Absent, nil
	case a.Err != nil:
		h.State, h.Problems = Failed, nil
		for _, p := range adapters.Problems(a.Err) {
			h.Problems = append(h.Problems, p.Error())
		}
	case q.isFull() || h.State == Pending:
		h.State, h.Problems = OK, nil
	}
	if len(a.Sessions) > 0 || a.Err == nil {
		h.Answered = a.At
	}
	if q.isFull() {
		h.Elapsed, h.Sessions = a.elapsed, len(a.Sessions)-a.added
		if a.roll.LookedIn != nil {
			h.LookedIn = a.roll.LookedIn
		}
		h.Versions = a.roll.Versions
		h.Skipped = a.roll.Skipped
		h.Ledger = a.roll.Ledger
		for i := range a.Sessions {
			for _, u := range a.Sessions[i].Usage {
				h.Ledger.Answers += u.Answers
			}
		}
		h.Format = formatOf(a)
	}
	return h
}

// Format describes whether Rollcall recognised an agent's files. A format that changed
// shows here before it can make a status wrong.
type Format string

// The values of Format. An empty Format reports that no file was read.
const (
	Recognised   Format = "recognised"
	Partly       Format = "partly"       // some records or files were skipped, see Health.Skipped
	Unrecognised Format = "unrecognised" // whole files were not recognised, see Health.Problems
)

// String returns the format in words for people.
func (f Format) String() string {
	switch f {
	case Partly:
		return "recognised in part"
	case Unrecognised:
		return "not recognised"
	}
	return string(f)
}

// formatOf returns the format of the files that an answer was read from.
func formatOf(a answer) Format {
	switch {
	case errors.Is(a.Err, adapters.ErrFormat):
		return Unrecognised
	case len(a.roll.Skipped) > 0:
		return Partly
	case len(a.Sessions) > a.added:
		return Recognised
	}
	return ""
}

// isUnseen reports whether h is that of an agent whose files are not read, and of which nothing is seen: most of these names concern few users.
func (h *Health) isUnseen() bool {
	if h.State != Pending && h.State != Absent {
		return false
	}
	d, _ := adapters.Describe(h.Name)
	return d.Unread
}
