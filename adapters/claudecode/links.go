package claudecode

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters/internal/agentfile"
)

// clearLinks records which session continues which other one after /clear.
type clearLinks struct {
	afterClear []*session       // transcripts that begin where a context was cleared
	clears     []typedClear     // typed, oldest first
	pairs      []continuation   // for certain
	taken      map[int]*session // the transcripts that the clears began, by index in clears
}

// continuation is a session and the one that continues it.
type continuation struct {
	at   time.Time
	from string
	to   *session
	how  string
}

// linksOf finds the links in the folders of the processes. It returns nil when there is
// none to find.
func (d *discovery) linksOf(outdated []outdatedEntry, unregistered []claude, roots []string) *clearLinks {
	since, first := make(map[string]time.Time), make(map[string]time.Time) // by project folder, and by root
	note := func(times map[string]time.Time, key string, at time.Time) {
		if known, ok := times[key]; !ok || at.Before(known) {
			times[key] = at
		}
	}
	for i := range outdated {
		for _, dir := range outdated[i].folders() {
			note(since, dir, outdated[i].since)
		}
		note(first, outdated[i].root, outdated[i].since)
	}
	for _, p := range unregistered {
		for _, root := range roots {
			if name := projectName(p.cwd); name != "" && (p.root == "" || p.root == root) {
				note(since, filepath.Join(root, "projects", name), p.Started)
				note(first, root, p.Started)
			}
		}
	}
	l := &clearLinks{taken: make(map[int]*session)}
	if l.afterClear = d.begunSince(since); len(l.afterClear) == 0 && len(outdated) == 0 {
		return nil
	}
	for root, at := range first {
		l.clears = append(l.clears, d.history(root, at).clears...)
	}
	slices.SortStableFunc(l.clears, func(a, b typedClear) int { return a.at.Compare(b.at) })
	l.match(d)
	return l
}

// begunSince reads the transcripts of folders that were written since a process
// there began, and returns those that begin where a context was cleared.
func (d *discovery) begunSince(since map[string]time.Time) []*session {
	var near, begun []*session
	for _, s := range d.sessions {
		if s.file == nil {
			continue
		}
		if from, ok := since[s.file.dir]; ok && (!s.file.info.ModTime().Before(from) || len(s.live) > 0) {
			near = append(near, s)
		}
	}
	agentfile.Parallel(len(near), func(i int) { d.load(near[i]) })
	for _, s := range near {
		f := &s.facts
		at := f.cleared
		if f.planned != "" {
			at = f.started
		}
		if !at.IsZero() && !at.Before(since[s.file.dir]) && !follows(f.version) {
			begun = append(begun, s)
		}
	}
	slices.SortFunc(begun, func(a, b *session) int { return a.facts.started.Compare(b.facts.started) })
	return begun
}

// match assigns to a transcript the /clear with which it begins, if only this /clear
// fits the transcript and it fits no other transcript.
func (l *clearLinks) match(c *discovery) {
	fit := make(map[*session][]int)
	for _, s := range l.afterClear {
		if s.facts.planned != "" {
			l.pairs = append(l.pairs, continuation{s.facts.started, s.facts.planned, s, "an accepted plan"})
			continue
		}
		for i := range l.clears {
			if c.fits(&l.clears[i], s) {
				fit[s] = append(fit[s], i)
			}
		}
	}
	for again := true; again; {
		again = false
		claims := make(map[int][]*session) // by index in clears: transcripts that fit only this /clear
		for s, is := range fit {
			if is = slices.DeleteFunc(is, func(i int) bool { return l.taken[i] != nil }); len(is) == 1 {
				claims[is[0]] = append(claims[is[0]], s)
			}
			fit[s] = is
		}
		for i, by := range claims {
			if len(by) > 1 { // forks of it begin alike
				by = slices.DeleteFunc(by, func(s *session) bool { return len(s.live) > 0 })
			}
			if len(by) == 1 {
				l.taken[i], again = by[0], true
				l.pairs = append(l.pairs, continuation{by[0].facts.cleared, l.clears[i].from, by[0], "/clear"})
				delete(fit, by[0])
			}
		}
	}
}

// linked reports whether the session that s continues is known.
func (l *clearLinks) linked(s *session) bool {
	return slices.ContainsFunc(l.pairs, func(p continuation) bool { return p.to == s })
}

// fits reports whether a transcript can begin with that /clear: the transcript begins
// right after the /clear was typed, or after it left the queue of the session that it
// ended.
func (d *discovery) fits(h *typedClear, s *session) bool {
	old := d.sessions[h.from]
	if h.from == s.id || h.project != s.facts.cwd && (old == nil || old.file == nil || old.file.dir != s.file.dir) {
		return false
	}
	after := func(at time.Time) bool {
		gap := s.facts.cleared.Sub(at)
		return gap > -historyPrecision && gap < commandTime
	}
	if after(h.at) {
		return true
	}
	if old == nil || old.file == nil {
		return false
	}
	d.load(old)
	return !old.facts.dequeued.Before(h.at.Add(-historyPrecision)) && after(old.facts.dequeued)
}

// next returns how a session was left last since a given time, and nil if it was not.
// lost is the time at which it was left, if the session that follows is not known.
func (l *clearLinks) next(s *session, since time.Time) (p *continuation, lost time.Time) {
	var at time.Time
	for i := range l.pairs {
		if q := &l.pairs[i]; q.from == s.id && !q.at.Before(since) && q.at.After(at) {
			p, at = q, q.at
		}
	}
	turn := &s.facts.turn
	for i := range l.clears {
		h := &l.clears[i]
		if h.from != s.id || l.taken[i] != nil || h.at.Before(since) || !h.at.After(at) {
			continue
		}
		if turn.at.After(h.at) || turn.state == awaitsModel || turn.state == callsTools {
			continue // it is in the queue, or was withdrawn
		}
		lost = h.at
	}
	return p, lost
}

// end returns the last session that continues s.
func (l *clearLinks) end(s *session) *session {
	for range maxSteps {
		p, _ := l.next(s, s.facts.started)
		if p == nil {
			break
		}
		set(&s.movedTo, fmt.Sprintf("%s at %s continued as %s", p.how, clock(p.at), shortID(p.to.id)))
		s = p.to
	}
	return s
}
