package cline

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"rollcall/adapters/internal/agentproc"
	"rollcall/bounded"
)

// match finds the process of each session. The manifest names the pid of the process that began the session, without its
// start time: that process must be older than the session. A process that resumes a session names it in its
// command line, and the manifest keeps the old pid. The hub alone knows the terminals of the sessions that it hosts.
func (d *discovery) match() {
	for _, s := range d.sessions {
		if s.parent == "" {
			d.matchOne(s)
		}
	}
	for _, s := range d.sessions {
		for _, p := range d.processes {
			if s.owner != nil && s.owner.hub && !p.hosts && d.mayShow(p, s) && p.isOlder(s) {
				p.shows = true
				s.terminals++
			}
		}
	}
	for _, s := range d.sessions {
		switch up := s.above; {
		case up != nil: // it runs in the process of the session that spawned it
			s.owner, s.doubt, s.pid, s.terminals = up.owner, up.doubt, up.pid, up.terminals
			s.branch = cmp.Or(s.branch, up.branch)
		case s.owner == nil && s.doubt == "" && (s.isOpen() || s.status == "idle"):
			d.doubt(s)
		}
	}
}

func (d *discovery) matchOne(s *session) {
	var owners []*process
	for _, p := range d.processes {
		switch {
		case p.root != s.root:
		case p.Named == s.id && !p.hub:
			s.owner, p.hosts = p, true
			return
		case p.number == s.pid && p.isOlder(s):
			owners = append(owners, p)
		}
	}
	if len(owners) == 1 {
		s.owner, owners[0].hosts = owners[0], true
	} else if len(owners) > 1 {
		s.doubt = fmt.Sprintf("%d processes can be process %d, which it names", len(owners), s.pid)
	}
}

// tick is the precision of a process's start time.
const tick = 10 * time.Millisecond

// isOlder reports whether a process began before a session for certain.
func (p *process) isOlder(s *session) bool { return !p.Started.Add(tick).After(s.started) }

// mayShow reports whether a process is a terminal in the folder of a session, and not there for another session that is known.
func (d *discovery) mayShow(p *process, s *session) bool {
	return !p.hub && p.Named == "" && p.root == s.root && sameFolder(p.CWD, s.cwd)
}

// doubt sets the doubt about a session whose process is gone. The start of a process moves when the clock is set, and what was written
// does not: one with the pid may be the session's. A terminal takes up any session by /history, without a trace of it but what it writes.
func (d *discovery) doubt(s *session) {
	for _, p := range d.processes {
		switch {
		case p.root != s.root:
		case p.number == s.pid && (p.hub || !p.hosts):
			s.doubt = fmt.Sprintf("process %d began later, or the clock was set since", p.PID)
			p.doubt = true
			return
		case !p.hosts && !p.shows && d.mayShow(p, s) && p.Started.Before(s.modified):
			s.doubt = fmt.Sprintf("process %d is gone, and process %d, a terminal in its folder without a session of its own, may have taken it up by /history", s.pid, p.PID)
		}
	}
}

// sameFolder reports whether two paths name the same folder.
func sameFolder(a, b string) bool {
	return a == "" || b == "" || filepath.Clean(a) == filepath.Clean(b) ||
		bounded.Answers(a) && bounded.Answers(b) && agentproc.RealPath(a) == agentproc.RealPath(b)
}
