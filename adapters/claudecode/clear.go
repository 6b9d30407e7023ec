package claudecode

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
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

// doubtUnmatchedClear makes the status of sessions unknown after a /clear that matches
// no entry of the history: the history is late or switched off, or two entries match.
// s, which began with that /clear, may be the session of any process in its folder that
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
