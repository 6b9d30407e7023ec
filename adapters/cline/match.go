package cline

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters/internal/agentproc"
	"rollcall/bounded"
)

// match finds the process of each session. The manifest names the pid of the process that began the session, without its
// start time: that process must be older than the session. A process that resumes a session names it in its
// command line, and the manifest keeps the old pid.
func (d *discovery) match() {
	for _, s := range d.sessions {
		if s.parent == "" {
			d.matchOne(s)
		}
	}
	for _, s := range d.sessions {
		if s.owners == 0 && s.above == nil && s.isUnfinished() {
			d.doubtResumed(s)
		}
	}
	for _, s := range d.sessions {
		if up := s.above; up != nil { // it runs in the process of the session that spawned it
			s.owner, s.owners, s.doubt, s.pid, s.terminals = up.owner, up.owners, up.doubt, up.pid, up.terminals
			s.branch = cmp.Or(s.branch, up.branch)
			continue
		}
		if s.owner == nil || !s.owner.hub {
			continue
		}
		for _, p := range d.processes {
			if d.mayShow(p, s) {
				s.terminals++
			}
		}
	}
}

func (d *discovery) matchOne(s *session) {
	for _, p := range d.processes {
		if p.unresponsive != "" || p.root != s.root {
			continue
		}
		switch {
		case p.id == s.id && !p.hub:
			s.owner, s.owners = p, 1
			return
		case p.number == s.pid && p.isOlder(s):
			s.owner = p
			s.owners++
		}
	}
	if s.owners > 1 {
		s.owner = nil
	}
}

// tick is the precision of a process's start time.
const tick = 10 * time.Millisecond

// isOlder reports whether a process began before a session for certain.
func (p *process) isOlder(s *session) bool { return !p.Started.Add(tick).After(s.started) }

// mayShow reports whether the terminal of a process may show a session that the hub hosts. The hub alone knows whose session it
// is: the terminal is in the session's folder, is older, and hosts no session itself.
func (d *discovery) mayShow(p *process, s *session) bool {
	return !p.hub && p.id == "" && p.root == s.root && p.isOlder(s) && sameFolder(p.cwd, s.cwd) && !d.hosts(p)
}

// doubtResumed sets the doubt about a session whose process is gone: a terminal takes up any session by /history, without a
// trace of it but what it writes.
func (d *discovery) doubtResumed(s *session) {
	for _, p := range d.processes {
		if !p.hub && p.id == "" && p.root == s.root && p.Started.Before(s.modified) && sameFolder(p.cwd, s.cwd) && d.isOpen(p) {
			s.doubt = fmt.Sprintf("process %d is gone, and process %d, a terminal in its folder without a session of its own, may have taken it up by /history", s.pid, p.PID)
		}
	}
}

// hosts reports whether a process hosts a session.
func (d *discovery) hosts(p *process) bool {
	return slices.ContainsFunc(d.sessions, func(s *session) bool { return s.owner == p })
}

// isOpen reports whether a process has no session yet.
func (d *discovery) isOpen(p *process) bool {
	return !d.hosts(p) && !slices.ContainsFunc(d.sessions, func(s *session) bool { return s.owner != nil && s.owner.hub && d.mayShow(p, s) })
}

// sameFolder reports whether two paths name the same folder.
func sameFolder(a, b string) bool {
	if a == "" || b == "" || filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	return bounded.Answers(a) && bounded.Answers(b) && agentproc.RealPath(a) == agentproc.RealPath(b)
}
