package claudecode

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// links say which session went on as which.
type links struct {
	begun  []*session       // transcripts that begin where a context was cleared
	clears []clearing       // typed, oldest first
	pairs  []pair           // for certain
	taken  map[int]*session // what the clears began, by index
}

// pair is a session and the one that went on from it.
type pair struct {
	at   time.Time
	from string
	to   *session
	how  string
}

// linksOf finds the links in the folders of the processes. It is nil when there
// is none to find.
func (c *call) linksOf(stuck []stuckEntry, loose []claude, roots []string) *links {
	since := make(map[string]time.Time) // by project folder
	note := func(dir string, at time.Time) {
		if known, ok := since[dir]; !ok || at.Before(known) {
			since[dir] = at
		}
	}
	first := make(map[string]time.Time) // by root
	for i := range stuck {
		for _, dir := range stuck[i].folders() {
			note(dir, stuck[i].since)
		}
		first[stuck[i].root] = earlier(first[stuck[i].root], stuck[i].since)
	}
	for _, p := range loose {
		for _, root := range roots {
			if name := projectName(p.cwd); name != "" && (p.root == "" || p.root == root) {
				note(filepath.Join(root, "projects", name), p.Started)
				first[root] = earlier(first[root], p.Started)
			}
		}
	}
	l := &links{taken: make(map[int]*session)}
	if l.begun = c.begunSince(since); len(l.begun) == 0 && len(stuck) == 0 {
		return nil
	}
	for root, at := range first {
		l.clears = append(l.clears, c.history(root, at).clears...)
	}
	slices.SortStableFunc(l.clears, func(a, b clearing) int { return a.at.Compare(b.at) })
	l.match(c)
	return l
}

func earlier(known, at time.Time) time.Time {
	if known.IsZero() || at.Before(known) {
		return at
	}
	return known
}

// begunSince reads the transcripts of folders that were written since a process
// there began, and returns those that begin where a context was cleared.
func (c *call) begunSince(since map[string]time.Time) []*session {
	var near, begun []*session
	for _, s := range c.sessions {
		if s.file == nil {
			continue
		}
		if from, ok := since[s.file.dir]; ok && (!s.file.info.ModTime().Before(from) || len(s.live) > 0) {
			near = append(near, s)
		}
	}
	parallel(len(near), func(i int) { c.load(near[i]) })
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

// match finds the /clear that each transcript begins with: the one that fits
// no other transcript, where no other one fits it.
func (l *links) match(c *call) {
	fit := make(map[*session][]int)
	for _, s := range l.begun {
		if s.facts.planned != "" {
			l.pairs = append(l.pairs, pair{s.facts.started, s.facts.planned, s, "an accepted plan"})
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
		claims := make(map[int][]*session) // by those that only one fits
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
				l.pairs = append(l.pairs, pair{by[0].facts.cleared, l.clears[i].from, by[0], "/clear"})
				delete(fit, by[0])
			}
		}
	}
}

// linked says whether it is known from which session that one went on.
func (l *links) linked(s *session) bool {
	return slices.ContainsFunc(l.pairs, func(p pair) bool { return p.to == s })
}

// fits says whether a transcript can begin with that /clear: it begins right
// after it was typed, or after it left the queue of the session that it ended.
func (c *call) fits(h *clearing, s *session) bool {
	old := c.sessions[h.from]
	if h.from == s.id || h.project != s.facts.cwd && (old == nil || old.file == nil || old.file.dir != s.file.dir) {
		return false
	}
	after := func(at time.Time) bool {
		d := s.facts.cleared.Sub(at)
		return d > -grain && d < commandTime
	}
	if after(h.at) {
		return true
	}
	if old == nil || old.file == nil {
		return false
	}
	c.load(old)
	return !old.facts.dequeued.Before(h.at.Add(-grain)) && after(old.facts.dequeued)
}

// next returns how a session was left last since a moment; nil: it was not.
// lost is when it was left, if it isn't known for which one.
func (l *links) next(s *session, since time.Time) (p *pair, lost time.Time) {
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
			continue // it is in the queue, or was taken back
		}
		lost = h.at
	}
	return p, lost
}

// end returns the last session that one went on as.
func (l *links) end(s *session) *session {
	for range maxSteps {
		p, _ := l.next(s, s.facts.started)
		if p == nil {
			break
		}
		set(&s.left, fmt.Sprintf("%s at %s went on as %s", p.how, clock(p.at), short(p.to.id)))
		s = p.to
	}
	return s
}
