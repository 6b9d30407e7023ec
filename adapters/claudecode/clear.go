package claudecode

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
)

// After /clear the same process continues in a new session. Versions before 2.1.139
// leave the old session's id in the registry. For them the history shows when which
// session was cleared, and the new transcript shows that it began at that moment.

// outdatedEntry is a live registry entry that doesn't follow /clear.
type outdatedEntry struct {
	*session // that it names
	entry    liveEntry
	root     string
	since    time.Time // when its process began
	sharing  int       // entries of live processes that name the session
	now      *session  // where the process is; nil when that isn't known
}

const (
	// commandTime is the longest time from typing a command, or from its leaving the
	// queue, until it begins a transcript. 2.1.100 took 2 ms.
	commandTime = 2 * time.Second
	// historyPrecision is the longest time by which a time in the history can be later than
	// the record to which it belongs. No such difference was seen, but times are cut to the
	// millisecond.
	historyPrecision = 2 * time.Millisecond
	// rewriteTime is the longest time between a record and the update of the registry
	// that it causes.
	rewriteTime = 2 * time.Second
)

// outdatedEntries returns the live entries that can name a session which their process
// has left.
func (d *discovery) outdatedEntries() []outdatedEntry {
	var list []outdatedEntry
	for _, s := range d.sessions {
		for _, e := range s.live {
			if !e.interactive() || follows(e.version) {
				continue
			}
			since := e.started
			if e.process.Started.After(since) {
				since = e.process.Started
			}
			list = append(list, outdatedEntry{session: s, entry: e, root: e.root(), since: since.Add(-startSlack), sharing: len(s.live), now: s})
		}
	}
	return list
}

// followClears finds the sessions in which the processes continued.
func (d *discovery) followClears(outdated []outdatedEntry, unregistered []claude, roots []string) {
	l := d.linksOf(outdated, unregistered, roots)
	if l == nil {
		return
	}
	for i := range outdated {
		d.followEntry(&outdated[i], l)
	}
	for _, s := range l.afterClear {
		if !s.facts.cleared.IsZero() && !l.linked(s) && len(s.live) == 0 {
			d.doubtUnmatchedClear(s, l, outdated)
		}
	}
	for i := range l.pairs { // for sessions of versions without a registry, which their process has left
		p := &l.pairs[i]
		if old := d.sessions[p.from]; old != nil && !hasRegistry(old.facts.version) && !old.facts.turn.at.After(p.at.Add(rewriteTime)) {
			set(&old.movedTo, fmt.Sprintf("%s at %s continued as %s", p.how, clock(p.at), shortID(p.to.id)))
		}
	}
}

// followEntry moves an entry to the session that its process is in.
func (d *discovery) followEntry(e *outdatedEntry, l *clearLinks) {
	from := e.since
	var last *continuation
	for range maxSteps {
		p, lost := l.next(e.now, from)
		if !lost.IsZero() {
			if e.now != e.session {
				e.leave(e.session)
			}
			d.markUnknown(e, fmt.Sprintf("pid %d left the session by /clear at %s; the session that follows is not known yet", e.entry.pid, clock(lost)), e.now)
			return
		}
		if p == nil {
			break
		}
		if e.now == e.session && e.entry.modified.After(p.at) && e.sharing == 1 && e.facts.turn.at.After(p.at.Add(rewriteTime)) {
			break // it was resumed and used since then
		}
		e.now.movedTo = fmt.Sprintf("pid %d continued as %s: %s at %s", e.entry.pid, shortID(p.to.id), p.how, clock(p.at))
		e.now, from, last = p.to, p.at.Add(-historyPrecision), p
	}
	if last == nil {
		return
	}
	names := fmt.Sprintf("registry %s names %s; %s at %s continued as %s",
		filepath.Base(e.entry.path), shortID(e.id), last.how, clock(last.at), shortID(e.now.id))
	if why := d.whyDoubtful(e, last.at); why != "" {
		d.markUnknown(e, names+", but "+why, e.session, e.now)
		return
	}
	e.leave(e.session)
	moved := e.entry
	moved.via = names
	e.now.live = append(e.now.live, moved)
}

// maxSteps bounds how often a process is followed.
const maxSteps = 10_000

// whyDoubtful returns in words why the entry's process may have left e.now since at,
// and "" if nothing suggests that.
func (d *discovery) whyDoubtful(e *outdatedEntry, at time.Time) string {
	if e.sharing > 1 {
		return fmt.Sprintf("%d processes have that entry", e.sharing)
	}
	last := d.history(e.root, e.since).last[e.now.id]
	resumed := last.at.After(at) && (strings.HasPrefix(last.text, "/resume") || strings.HasPrefix(last.text, "/continue"))
	used := e.now.facts.active
	if !resumed && last.at.After(used) {
		used = last.at
	}
	rewritten := e.entry.modified
	switch { // a registry with a status is rewritten often
	case resumed && (e.entry.status != "" || rewritten.After(last.at)),
		e.entry.status == "" && rewritten.After(at.Add(rewriteTime)) && rewritten.After(used.Add(rewriteTime)):
		return "its process may have returned to this session since"
	}
	return ""
}

// leave removes the entry's process from a session.
func (e *outdatedEntry) leave(s *session) {
	s.live = slices.DeleteFunc(s.live, func(l liveEntry) bool { return l.process.Identity == e.entry.process.Identity })
}

// markUnknown makes the status of sessions unknown, because the entry's process may be
// in another one.
func (d *discovery) markUnknown(e *outdatedEntry, why string, sessions ...*session) {
	for _, s := range sessions {
		e.leave(s)
		if s.unknownBecause == "" {
			s.unknownBecause = why
		}
	}
	e.now = nil
}

// doubtUnmatchedClear makes the status of sessions unknown after a /clear that can't be
// assigned to one entry of the history: the history is late or switched off, or two entries
// match. s, which began with that /clear, may be the session of any process in its folder that
// has done nothing since then.
func (d *discovery) doubtUnmatchedClear(s *session, l *clearLinks, outdated []outdatedEntry) {
	at, end := s.facts.cleared, l.end(s)
	for i := range outdated {
		e := &outdated[i]
		if e.now == end || at.Before(e.since) || !slices.Contains(e.folders(), s.file.dir) {
			continue
		}
		if e.now != nil {
			f := &e.now.facts
			if f.active.After(at) || f.turn.state != noTurn && !f.turn.state.over() ||
				d.history(e.root, e.since).last[e.now.id].at.After(at) {
				continue
			}
			d.markUnknown(e, fmt.Sprintf("pid %d may have continued as %s: /clear at %s", e.entry.pid, shortID(s.id), clock(at)), e.now)
		}
		end.unknownBecause = fmt.Sprintf("it began with /clear at %s, and this version does not say in which process", clock(at))
	}
}

// folders returns the folders in which the entry's process creates its sessions.
func (e *outdatedEntry) folders() []string {
	var dirs []string
	if name := projectName(e.entry.cwd); name != "" {
		dirs = append(dirs, filepath.Join(e.root, "projects", name))
	}
	if e.file != nil {
		dirs = append(dirs, e.file.dir)
	}
	return dirs
}

func clock(at time.Time) string { return at.Local().Format("15:04:05") }

// shortID returns the first 8 characters of an id.
func shortID(id string) string { return id[:8] }

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
			if len(by) > 1 { // forks of a session begin in the same way
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

// next returns the last continuation by which a process left the session since a given time,
// and nil if there is none. lost is the time at which the session was left for one that is not
// known.
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
			continue // the /clear is in the queue, or was withdrawn
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
