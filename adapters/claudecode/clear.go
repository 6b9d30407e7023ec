package claudecode

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// /clear goes on in a new session of the same process. Versions before 2.1.139
// leave the old session's id in the registry; there the history tells when which
// session was cleared, and the new transcript that it began at that moment.

// stuckEntry is a live registry entry that doesn't follow /clear.
type stuckEntry struct {
	*session // that it names
	entry    liveEntry
	root     string
	since    time.Time // when its process began
	sharing  int       // entries of live processes that name the session
	now      *session  // where the process is; nil when that isn't known
}

const (
	// commandTime is how long after it was typed, or left the queue, a command
	// begins a transcript at most. 2.1.100 took 2 ms.
	commandTime = 2 * time.Second
	// grain is by how much the history can be later than the record it is about:
	// none was, but times are cut to the millisecond.
	grain = 2 * time.Millisecond
	// rewriteTime is by how much the registry is written later than the record of
	// what made it be.
	rewriteTime = 2 * time.Second
)

// stuck returns the live entries that can name a session which their process
// has left.
func (c *call) stuck() []stuckEntry {
	var list []stuckEntry
	for _, s := range c.sessions {
		for _, e := range s.live {
			if !e.interactive() || follows(e.version) {
				continue
			}
			since := e.started
			if e.process.Started.After(since) {
				since = e.process.Started
			}
			list = append(list, stuckEntry{session: s, entry: e, root: e.root(), since: since.Add(-startSlack), sharing: len(s.live), now: s})
		}
	}
	return list
}

// follow finds out which sessions the processes went on to.
func (c *call) follow(stuck []stuckEntry, loose []claude, roots []string) {
	l := c.linksOf(stuck, loose, roots)
	if l == nil {
		return
	}
	for i := range stuck {
		c.followOne(&stuck[i], l)
	}
	for _, s := range l.begun {
		if !s.facts.cleared.IsZero() && !l.linked(s) && len(s.live) == 0 {
			c.unclaimed(s, l, stuck)
		}
	}
	for i := range l.pairs { // where versions without a registry are no more
		p := &l.pairs[i]
		if old := c.sessions[p.from]; old != nil && !hasRegistry(old.facts.version) && !old.facts.turn.at.After(p.at.Add(rewriteTime)) {
			set(&old.left, fmt.Sprintf("%s at %s went on as %s", p.how, clock(p.at), short(p.to.id)))
		}
	}
}

// followOne moves an entry to the session that its process is in.
func (c *call) followOne(e *stuckEntry, l *links) {
	from := e.since
	var last *pair
	for range maxSteps {
		p, lost := l.next(e.now, from)
		if !lost.IsZero() {
			if e.now != e.session {
				e.leave(e.session)
			}
			c.doubt(e, fmt.Sprintf("pid %d left it by /clear at %s, and which session follows isn't known yet", e.entry.pid, clock(lost)), e.now)
			return
		}
		if p == nil {
			break
		}
		if e.now == e.session && e.entry.modified.After(p.at) && e.sharing == 1 && e.facts.turn.at.After(p.at.Add(rewriteTime)) {
			break // resumed since, and used
		}
		e.now.left = fmt.Sprintf("pid %d went on as %s: %s at %s", e.entry.pid, short(p.to.id), p.how, clock(p.at))
		e.now, from, last = p.to, p.at.Add(-grain), p
	}
	if last == nil {
		return
	}
	names := fmt.Sprintf("registry %s names %s; %s at %s went on as %s",
		filepath.Base(e.entry.path), short(e.id), last.how, clock(last.at), short(e.now.id))
	if why := c.whyUnsure(e, last.at); why != "" {
		c.doubt(e, names+", but "+why, e.session, e.now)
		return
	}
	e.leave(e.session)
	moved := e.entry
	moved.via = names
	e.now.live = append(e.now.live, moved)
}

// maxSteps bounds how often a process is followed.
const maxSteps = 10_000

// whyUnsure says what speaks against the entry's process being in e.now since at.
func (c *call) whyUnsure(e *stuckEntry, at time.Time) string {
	if e.sharing > 1 {
		return fmt.Sprintf("%d processes have that entry", e.sharing)
	}
	last := c.history(e.root, e.since).last[e.now.id]
	resumed := last.at.After(at) && (strings.HasPrefix(last.text, "/resume") || strings.HasPrefix(last.text, "/continue"))
	used := e.now.facts.active
	if !resumed && last.at.After(used) {
		used = last.at
	}
	rewritten := e.entry.modified
	switch { // a registry with a status is rewritten all the time
	case resumed && (e.entry.status != "" || rewritten.After(last.at)),
		e.entry.status == "" && rewritten.After(at.Add(rewriteTime)) && rewritten.After(used.Add(rewriteTime)):
		return "its process may have gone back since"
	}
	return ""
}

// leave takes the entry's process from a session.
func (e *stuckEntry) leave(s *session) {
	s.live = slices.DeleteFunc(s.live, func(l liveEntry) bool { return l.process.Identity == e.entry.process.Identity })
}

// doubt makes it unknown whether the entry's process is in these sessions.
func (c *call) doubt(e *stuckEntry, why string, sessions ...*session) {
	for _, s := range sessions {
		e.leave(s)
		if s.blind == "" {
			s.blind = why
		}
	}
	e.now = nil
}

// unclaimed is for a session that began with a /clear that nothing else is known
// of: the history is late or switched off, or two can't be told apart. It may be
// of any process in its folder that did nothing since.
func (c *call) unclaimed(s *session, l *links, stuck []stuckEntry) {
	at, end := s.facts.cleared, l.end(s)
	for i := range stuck {
		e := &stuck[i]
		if e.now == end || at.Before(e.since) || !e.isIn(s.file.dir) {
			continue
		}
		if e.now != nil {
			f := &e.now.facts
			if f.active.After(at) || f.turn.state != noTurn && !f.turn.state.over() ||
				c.history(e.root, e.since).last[e.now.id].at.After(at) {
				continue
			}
			c.doubt(e, fmt.Sprintf("pid %d may have gone on as %s: /clear at %s", e.entry.pid, short(s.id), clock(at)), e.now)
		}
		end.blind = fmt.Sprintf("it began with /clear at %s, and this version does not say in which process", clock(at))
	}
}

// isIn says whether sessions that the entry's process begins are in that folder.
func (e *stuckEntry) isIn(dir string) bool { return slices.Contains(e.folders(), dir) }

func (e *stuckEntry) folders() []string {
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

// short is enough of an id to know it again.
func short(id string) string { return id[:8] }
