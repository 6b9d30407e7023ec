package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// source is one adapter with what was last seen of it.
type source struct {
	adapter adapters.Adapter
	turn    chan struct{} // holds a token while a question is under way
	hurry   chan struct{} // tells the question under way that an exit waits for it

	// Owned by the holder of turn.
	last    *call // the newest call; it may still hang
	shown   []Session
	lives   map[string]*life
	ended   map[string]time.Time // sessions that ended while we looked, and when
	scanned bool                 // the first scan is over: from now on there are events
	lastErr string               // of the last answer about all sessions

	// Guarded by Core.mu.
	health  Health
	public  []Session // shown, as the snapshot has it
	changed bool      // public is newer than the snapshot
	limits  []string  // what can't be watched
	asking  int
	flight  *flight
	watches map[proc.Identity]*watch
	places  *places // news for Run; nil: none
	summed  bool    // exact tokens cost little by now: see Core.sum
}

// places are the folders that an adapter wants to be watched, and where it
// looked, of which some may be missing.
type places struct{ watch, lookedIn []string }

func newSource(a adapters.Adapter) *source {
	return &source{
		adapter: a,
		turn:    make(chan struct{}, 1),
		hurry:   make(chan struct{}),
		lives:   map[string]*life{},
		ended:   map[string]time.Time{},
		health:  Health{Name: a.Name(), State: Pending},
		watches: map[proc.Identity]*watch{},
	}
}

// question is what an adapter is asked.
type question struct {
	ids    []string // nil: for all sessions
	exit   bool     // for the sessions whose process ended, instead of ids
	limit  time.Duration
	flight *flight // nil: nobody joins
	rough  bool    // without exact tokens, whatever the configuration says
}

// ask puts one question and shows what comes of it. When ctx ends first, nothing
// changes.
func (c *Core) ask(ctx context.Context, s *source, q question) {
	if !s.take(ctx, q.exit) {
		return
	}
	defer func() { <-s.turn }()
	began := time.Now()
	known := c.liveness(s)
	known.look(s)
	if q.exit {
		ids, launched := s.bereft(known)
		if len(ids) == 0 {
			return
		}
		if !launched { // else its agent may list it by now, under another id
			q.ids = ids
		}
	}
	a := answer{Answer: Answer{IDs: q.ids}}
	now := known
	if err := s.awaitHanging(ctx, c.cfg.Limit, q.limit); err != nil {
		a.Err, a.At = err, time.Now()
	} else {
		deadline := time.Now().Add(q.limit)
		a = c.call(ctx, s, c.query(s, q), q.limit, deadline)
		listed := a.Sessions
		c.addLaunches(s, &a)
		now = c.liveness(s)
		if ids := s.openQuestions(&a.Answer, known, now); len(ids) > 0 && ctx.Err() == nil {
			a.Sessions = listed
			a.add(c.call(ctx, s, adapters.Query{IDs: ids, Totals: c.query(s, q).Totals}, q.limit, deadline))
			c.addLaunches(s, &a)
		}
	}
	if ctx.Err() != nil {
		return
	}
	a.elapsed = time.Since(began)
	c.settle(s, q, a, now)
}

// take waits for the turn. In a hurry it asks whoever has it to be quick.
func (s *source) take(ctx context.Context, hurry bool) bool {
	hurried := s.hurry
	if !hurry {
		hurried = nil
	}
	for {
		select {
		case s.turn <- struct{}{}:
			return true
		case hurried <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
}

// query is q in the adapter's words.
func (c *Core) query(s *source, q question) adapters.Query {
	totals := c.cfg.Totals && !q.rough
	if q.ids != nil {
		return adapters.Query{IDs: q.ids, Totals: totals}
	}
	return adapters.Query{Since: c.cutoff(time.Now()), Totals: totals && c.summable(s)}
}

// cutoff is the time before which stopped sessions are not shown.
func (c *Core) cutoff(now time.Time) time.Time {
	switch c.cfg.Since {
	case All:
		return time.Time{}
	case 0:
		return c.began
	}
	return now.Add(-c.cfg.Since)
}

// openQuestions are the sessions about which a's answer can't be final: their
// process ended while it was given, it contradicts the process table, or it
// does not speak of them. The agent's files are final after the process's end.
func (s *source) openQuestions(a *Answer, known, now *liveness) []string {
	if len(a.Sessions) == 0 && a.Err != nil && !isAbsent(a.Err) {
		return nil // it failed altogether
	}
	listed := make(map[string]bool, len(a.Sessions))
	ids := map[string]bool{}
	for i := range a.Sessions {
		x := &a.Sessions[i]
		listed[x.ID] = true
		if gone(x, now.alive) && !known.dead(x.Process) {
			ids[x.ID] = true
		}
	}
	for id, l := range s.lives {
		if !a.asked(id) {
			continue
		}
		ended := slices.ContainsFunc(l.procs, func(p proc.Identity) bool {
			return !now.alive(p) && !known.dead(p)
		})
		if ended || !listed[id] && !l.over && a.IDs == nil {
			ids[id] = true
		}
	}
	for id := range s.ended {
		if a.IDs == nil && !listed[id] {
			ids[id] = true
		}
	}
	out := make([]string, 0, len(ids))
	for id := range ids {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// bereft are the sessions that lost a process, and whether one is a launch that
// its agent has not listed yet.
func (s *source) bereft(now *liveness) (ids []string, launched bool) {
	for id, l := range s.lives {
		if slices.ContainsFunc(l.procs, func(p proc.Identity) bool { return !now.alive(p) }) {
			ids = append(ids, id)
			launched = launched || l.session.Launch != nil && l.session.Launch.Unlisted
		}
	}
	slices.Sort(ids)
	return ids, launched
}

// settle shows an answer: what is listed now, what happened, what is watched.
func (c *Core) settle(s *source, q question, a answer, now *liveness) {
	s.prune(a.At)
	cutoff := c.cutoff(a.At)
	rows := Reconcile(Input{Before: s.shown, Answer: a.Answer, Alive: now.alive})
	a.name(rows)
	rows = slices.DeleteFunc(rows, func(r Session) bool { return s.tooOld(&r, cutoff) })
	s.shown = sortSessions(rows)
	if q.ids == nil && a.Err == nil {
		s.forget(rows)
	}
	evs := s.advance(s.shown, &a.Answer, now)
	c.watchProcesses(s)

	c.mu.Lock()
	defer c.mu.Unlock()
	s.public, s.changed = s.shown, true
	s.health = s.health.after(q, a)
	if q.ids == nil && a.places != nil {
		s.places = a.places
	}
	if q.flight != nil {
		c.landLocked(s, q.flight)
	}
	c.publishLocked()
	c.deliver(evs)
	c.poke()
}

// prune forgets the ends of long ago.
func (s *source) prune(now time.Time) {
	for id, t := range s.ended {
		if now.Sub(t) > keepEnded {
			delete(s.ended, id)
		}
	}
}

// forget leaves out the ended sessions that their agent does not keep.
func (s *source) forget(rows []Session) {
	if len(s.ended) == 0 {
		return
	}
	kept := make(map[string]bool, len(s.ended))
	for i := range rows {
		kept[rows[i].ID] = true
	}
	for id := range s.ended {
		if !kept[id] {
			delete(s.ended, id)
		}
	}
}

func (s *source) tooOld(r *Session, cutoff time.Time) bool {
	if r.Live() || r.LastActivityAt.IsZero() || !r.LastActivityAt.Before(cutoff) {
		return false
	}
	if l := s.lives[r.ID]; l != nil && !l.over {
		s.ended[r.ID] = time.Now() // it stopped while we looked
	}
	_, kept := s.ended[r.ID]
	return !kept
}

// after is h with what the answer a to q says.
func (h Health) after(q question, a answer) Health {
	switch {
	case isAbsent(a.Err):
		h.State, h.Problems = Absent, nil
	case a.Err != nil:
		h.State, h.Problems = Failed, nil
		for _, p := range adapters.Problems(a.Err) {
			h.Problems = append(h.Problems, p.Error())
		}
	case q.ids == nil || h.State == Pending:
		h.State, h.Problems = OK, nil
	}
	if len(a.Sessions) > 0 || a.Err == nil {
		h.Answered = a.At
	}
	if q.ids == nil {
		h.Elapsed, h.Sessions = a.elapsed, len(a.Sessions)-a.added
		if a.roll.LookedIn != nil {
			h.LookedIn = a.roll.LookedIn
		}
		h.Versions, h.Skipped = a.roll.Versions, a.roll.Skipped
		h.Format = formatOf(a)
	}
	return h
}

func joinErrors(a, b error) error {
	if a != nil && b != nil && a.Error() == b.Error() {
		return a
	}
	return errors.Join(a, b)
}

// errHanging is why an adapter that still hangs is not asked.
func errHanging(began time.Time) error {
	return fmt.Errorf("%w to the question of %s; not asked again until it comes", adapters.ErrTimeout, began.Format(time.TimeOnly))
}
