package cline

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
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
			s.owner = up.owner
			s.doubt = up.doubt
			s.pid = up.pid
			s.terminals = up.terminals
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

// isOlder reports whether a process began before a session for certain.
func (p *process) isOlder(s *session) bool { return !p.Started.Add(kit.StartSlack).After(s.started) }

// mayShow reports whether a process is a terminal in the folder of a session, and not there for another session that is known.
func (d *discovery) mayShow(p *process, s *session) bool {
	return !p.hub && p.Named == "" && p.root == s.root && (sameFolder(p.CWD, s.cwd) || p.At(s.cwd))
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

// verdict derives the status of a session from its manifest, its conversation and its process.
func (d *discovery) verdict(s *session) adapters.State {
	record := fmt.Sprintf("%s.json: %s", kit.PlainWord(s.id), kit.PlainWord(s.status))
	if !s.modified.IsZero() {
		record += ", " + kit.Span(d.Now.Sub(s.modified)) + " ago"
	}
	switch {
	case s.owner != nil:
		return s.alive(fmt.Sprintf("%s; process %d%s", record, s.owner.PID, map[bool]string{true: ", Cline's hub"}[s.owner.hub]))
	case d.Homes.NoTable:
		return kit.Unknown(record + "; the processes could not be read")
	case s.doubt != "":
		return kit.Unknown(record + "; " + s.doubt)
	}
	outcome, why := s.outcome()
	return kit.Stopped(outcome, fmt.Sprintf("%s; process %d is gone%s", record, s.pid, why))
}

// alive returns the state of a session whose process is alive.
func (s *session) alive(evidence string) adapters.State {
	switch {
	case s.lost && s.isFresh():
		outcome, why := s.outcome()
		return kit.Idle(outcome, evidence+" has resumed it, and no turn began in it"+why)
	case s.lost:
		return kit.Unknown(evidence + " has resumed it, but the hub has marked the session as failed since, so that it is not known what it does")
	case s.isOpen() && s.owner.Started.After(s.modified):
		return kit.Unknown(evidence + ", which began later, so that the turn was another process's, unless the clock was set since")
	case s.isOpen() && s.owner.hub && s.interactive && s.terminals == 0:
		return kit.Unknown(evidence + "; no terminal of Cline's is in its folder any more, and the hub does not say whether the turn goes on")
	case s.status == "pending":
		return kit.Waiting(adapters.ForPermission, evidence)
	case s.status == "running":
		return s.running(evidence)
	}
	outcome, why := s.outcome()
	if outcome == "" && s.status != "idle" {
		return kit.Unknown(evidence + why)
	}
	return kit.Idle(outcome, evidence+why)
}

// isFresh reports whether the process that resumed a session had begun no turn in it when the hub that began with it, within 10 seconds,
// marked the session. The next turn sets another status. A mark that is older than the process shows that the clock was set.
func (s *session) isFresh() bool {
	marked := s.modified.Sub(s.owner.Started)
	return !s.owner.prompted && s.owner.Started.After(kit.Latest(s.talk.last.at, s.turnAt)) && marked >= 0 && marked < 10*time.Second && !s.unread
}

// isOpen reports whether a session is in a turn by its manifest.
func (s *session) isOpen() bool { return s.status == "running" || s.status == "pending" }

// running returns the state of a session in a turn.
func (s *session) running(evidence string) adapters.State {
	l := &s.talk.last
	switch {
	case s.unread:
		return kit.Unknown(evidence + "; its conversation could not be read, so that a question in it is not seen")
	case s.turn.unread:
		return kit.Unknown(evidence + "; the hub's events could not be read, so that a question in them is not seen")
	case !s.turn.asked.IsZero():
		return kit.Waiting(adapters.ForQuestion, evidence+"; its terminal asks: "+s.turn.question())
	case l.kind == calling && l.asks == l.calls:
		return kit.Waiting(adapters.ForQuestion, evidence+"; its question has no answer yet")
	case l.kind == calling && l.asks > 0:
		return kit.Unknown(fmt.Sprintf("%s; of %d open calls %d ask a question", evidence, l.calls, l.asks))
	}
	return kit.Working(evidence)
}

// outcome returns how the last turn ended, and why that is said or not known.
func (s *session) outcome() (outcome adapters.Outcome, why string) {
	switch {
	case s.owner == nil && s.isOpen():
		return adapters.Died, ""
	case s.lost:
		return s.lostOutcome()
	case s.status == "cancelled":
		return adapters.Interrupted, ""
	case s.status == "failed":
		return adapters.Failed, ""
	case s.status != "idle" && s.status != "completed":
		return "", "; this status is not known"
	case s.unread:
		return "", "; its conversation could not be read"
	}
	switch l := &s.talk.last; {
	case s.status == "completed" && !s.interactive && l.kind == results: // the last call of a run can end it
		return adapters.Completed, ""
	case l.aborted:
		return adapters.Interrupted, "; its last call was aborted"
	case l.kind == prompt, l.kind == results: // a prompt is stored with its answer, or without one when the turn was interrupted
		return adapters.Interrupted, "; its last prompt has no answer"
	case l.kind == failure:
		return adapters.Failed, "; its last message is an error" + kit.Quoted(l.text)
	}
	return adapters.Completed, ""
}

// lostOutcome returns the outcome of a session whose process had ended without a word when a hub began. The hub then
// marks idle sessions as failed as well. A prompt is stored with its first answer, and a turn in a repository begins with a checkpoint.
func (s *session) lostOutcome() (outcome adapters.Outcome, why string) {
	why = "; a hub found that its process had ended"
	switch l := &s.talk.last; {
	case s.unread:
		return "", why + ", and its conversation could not be read"
	case l.kind != answer, s.turnAt.After(l.at):
		return adapters.Died, why
	case !s.turnAt.IsZero():
		return adapters.Completed, why
	}
	return "", why + ", and it is not known whether a turn was open"
}
