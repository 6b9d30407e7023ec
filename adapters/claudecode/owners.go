package claudecode

import (
	"path/filepath"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"
)

// ownersByTime finds the transcripts of processes without a registry entry, as
// versions up to 2.0.77 are: a transcript belongs to a process in its folder
// that was running when it was written last. It can be one of several; then the
// session has several owners.
func (c *call) ownersByTime(loose []claude) {
	if c.table.err != nil {
		c.blindWithoutTable()
		return
	}
	var done []string
	for _, p := range loose {
		if slices.Contains(done, p.cwd) {
			continue
		}
		done = append(done, p.cwd)
		var here []claude
		for _, q := range loose {
			if q.cwd == p.cwd && c.table.Alive(q.Identity) {
				here = append(here, q)
			}
		}
		c.share(here, c.candidates(here))
	}
}

// blindWithoutTable marks what may be running: the recent sessions of versions
// whose end can't be seen in the registry.
func (c *call) blindWithoutTable() {
	for _, s := range c.sessions {
		if s.file == nil || c.at.Sub(s.file.info.ModTime()) > plausible {
			continue
		}
		if c.load(s); !hasRegistry(s.facts.version) {
			s.blind = "the process table could not be read"
		}
	}
}

// candidates are the transcripts that can belong to one of the processes, which
// share a folder; the newest first.
func (c *call) candidates(here []claude) []*session {
	if len(here) == 0 {
		return nil
	}
	slug := projectName(here[0].cwd)
	var found []*session
	for _, s := range c.sessions {
		if s.file == nil || len(s.live) > 0 || s.left != "" || !slices.ContainsFunc(here, func(p claude) bool { return c.canWrite(p, s) }) {
			continue
		}
		if c.load(s); s.err != nil {
			continue
		}
		if s.facts.cwd == here[0].cwd || s.facts.cwd == "" && filepath.Base(s.file.dir) == slug {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b *session) int { return b.file.info.ModTime().Compare(a.file.info.ModTime()) })
	return found
}

// canWrite says whether p can be what wrote to s last.
func (c *call) canWrite(p claude, s *session) bool {
	if s.file.info.ModTime().Before(p.Started.Add(-clockSlack)) {
		return false
	}
	if p.root != "" && !within(s.file.path, p.root) {
		return false
	}
	if c.blind[p.PID] != "" {
		return true
	}
	c.load(s)
	switch f := &s.facts; {
	case hasRegistry(f.version): // it would be in the registry
		return false
	case f.printed && !p.oneShot && !f.started.Before(p.Started):
		return false // a run with -p on the side
	}
	return !c.leftAt(s).After(p.Started) // p would be gone
}

func within(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// share gives the transcripts to the processes.
func (c *call) share(here []claude, found []*session) {
	if len(found) == 0 {
		return
	}
	live := found
	unsure := len(here) == 1 && len(found) > 1
	if f := &found[0].facts; unsure && (!f.cleared.IsZero() || f.planned != "") && !f.started.Before(here[0].Started) {
		live, unsure = found[:1], false // /clear begins a new one in the same process
	}
	for _, s := range live {
		s.owners = slices.DeleteFunc(slices.Clone(here), func(p claude) bool { return !c.canWrite(p, s) })
		s.rivals, s.unsure = len(found), unsure
		for _, p := range s.owners {
			if why := c.blind[p.PID]; why != "" {
				s.blind = why
			}
		}
	}
	settle(here, live)
}

// settle takes away owners that others need. A process that started after a
// session's first record doesn't own it, if there is one that started before
// (it could have resumed it, which is rarer); and the only owner of a session
// owns no other one.
func settle(here []claude, live []*session) {
	for _, s := range live {
		begun := func(p claude) bool { return !p.Started.After(s.facts.started.Add(clockSlack)) }
		if slices.ContainsFunc(s.owners, begun) {
			s.owners = slices.DeleteFunc(s.owners, func(p claude) bool { return !begun(p) })
		}
	}
	if len(live) > len(here) {
		return
	}
	for range live {
		for _, s := range live {
			if len(s.owners) != 1 {
				continue
			}
			taken := s.owners[0].Identity
			for _, other := range live {
				if other != s && len(other.owners) > 1 {
					other.owners = slices.DeleteFunc(other.owners, func(p claude) bool { return p.Identity == taken })
				}
			}
		}
	}
}

// projectName is the folder in which Claude Code keeps the transcripts of a
// working directory. It can't be decoded: many paths have the same one.
func projectName(cwd string) string {
	const limit = 200
	units := utf16.Encode([]rune(cwd))
	name := make([]byte, len(units))
	for i, u := range units {
		name[i] = '-'
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			name[i] = byte(u)
		}
	}
	if len(name) > limit { // a hash follows, which isn't known
		return ""
	}
	return string(name)
}

// plausible is for how long after its last sign of life a session whose process
// can't be seen may still be running.
const plausible = 24 * time.Hour

func pids(list []claude) string {
	text := ""
	for i, p := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			text += " or "
		default:
			text += ", "
		}
		text += strconv.Itoa(p.PID)
	}
	return text
}
