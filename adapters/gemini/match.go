package gemini

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters/internal/kit"
)

// window is the longest time from the start of a process to the beginning of its file: 2 s to 10 s were seen, more under load. /resume shows a
// list first: it is as long after that command.
const window = time.Minute

// match finds the process of each session. It depends only on the files and the processes as they are now.
func (d *discovery) match() {
	groups := map[string][]*process{}
	for _, p := range d.processes {
		p.since = p.Started
		for _, s := range d.sessions {
			if p.session == nil && p.Named != "" && s.id == p.Named && s.owner == nil && p.Uses(s.project.home) {
				d.assign(p, s, "named by its command line")
			}
		}
		key := p.Home + "\x00" + p.CWD
		groups[key] = append(groups[key], p)
	}
	for _, group := range groups {
		d.assignSure(group, d.began, true)
		for _, p := range group {
			d.followLog(p)
		}
		d.assignSure(group, d.began, true)
		d.assignSure(group, d.wroteSince, false)
		for i, p := range group {
			d.doubt(p, i == len(group)-1)
		}
	}
	for _, s := range d.subs {
		s.parent = d.mainOf(s)
		if s.parent != nil {
			s.owner, s.how, s.doubt = s.parent.owner, s.parent.how, s.parent.doubt
		}
	}
}

// mainOf returns the session for which a sub-agent works, which another sub-agent may have started; nil if it is gone.
func (d *discovery) mainOf(s *session) *session {
	for range d.subs {
		if main := d.byID[s.project.home+"\x00"+s.file.parent]; main != nil {
			return main
		}
		i := slices.IndexFunc(d.subs, func(o *session) bool { return o.id == s.file.parent && o.project == s.project })
		if i < 0 {
			return nil
		}
		s = d.subs[i]
	}
	return nil
}

func (d *discovery) assign(p *process, s *session, how string) { p.session, s.owner, s.how = s, p, how }

// mayHave reports whether a process can have a session that no process has.
func (p *process) mayHave(s *session) bool {
	return s.owner == nil && s.project.cwd != "" && p.mayUse(s.project)
}

// isYoung reports whether a process may not have opened its file yet. The start of a process moves when the clock is set.
func (p *process) isYoung(now time.Time) bool {
	age := now.Sub(p.Started)
	return age >= 0 && age < window
}

// claim is a session that a process may have, as it did something at a time.
type claim struct {
	session *session
	by      []*process
	at      time.Time
}

// assignSure assigns the sessions of one folder that can only be of one process, which can have no other. when returns what a process did
// with a session and may have done; zero: it did nothing. 0.61.0 removes a file that has no message yet when another Gemini CLI starts
// in its folder, so that there can be fewer sessions than processes. If there are as many, and inOrder, they are of each other in the order of their times.
func (d *discovery) assignSure(group []*process, when func(*process, *session) (time.Time, string), inOrder bool) {
	var claims []claim
	times := map[*process]int{}
	for _, s := range d.sessions {
		c := claim{session: s}
		for _, p := range group {
			at, _ := when(p, s)
			if p.session != nil || !p.mayHave(s) || at.IsZero() {
				continue
			}
			s.maybe = append(s.maybe, p) // a prompt on standard input is neither typed nor on the command line
			if d.isAuthor(p, s) {
				c.by, c.at = append(c.by, p), at
				times[p]++
			}
		}
		if c.by != nil {
			claims = append(claims, c)
		}
	}
	slices.SortFunc(claims, func(a, b claim) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.session.id, b.session.id)) })
	rest := slices.DeleteFunc(slices.Clone(group), func(p *process) bool { return times[p] == 0 })
	inOrder = inOrder && len(rest) == len(claims)
	for i := range claims {
		inOrder = inOrder && slices.Contains(claims[i].by, rest[i])
	}
	for i, c := range claims {
		if p := c.by[0]; inOrder || len(c.by) == 1 && times[p] == 1 {
			if inOrder {
				p = rest[i]
			}
			_, how := when(p, c.session)
			d.assign(p, c.session, how)
		}
	}
}

// began returns when a process opened a session as it began, or after its user left another one. /clear and /resume open one as well, for a
// process that has run for longer.
func (d *discovery) began(p *process, s *session) (at time.Time, how string) {
	for _, one := range s.opened {
		if !one.Before(p.since.Add(-kit.StartSlack)) && one.Before(p.since.Add(window)) && d.followsCommand(s.project, one) == p.left && !isObject(s.Path) {
			at = one
		}
	}
	if p.left {
		return at, "its user left another session for it"
	}
	return at, "it began the session " + at.Sub(p.since).Round(time.Second/10).String() + " after its start"
}

// wroteSince returns when a session was written since a process began that may have it. A process that began with no session has one only after
// a prompt, and what is typed in a terminal is logged.
func (d *discovery) wroteSince(p *process, s *session) (at time.Time, how string) {
	if s.messages && !p.left && s.last.After(p.Started) && (p.Resumes || p.Headless || p.Hosts || d.isTyped(s, p.Started)) {
		at = s.last
	}
	return at, "no other session of its folder was written since the process began"
}

// isAuthor reports whether the messages of a session can be those of a process: what is typed in a terminal is logged, and the prompt of a
// command line is not.
func (d *discovery) isAuthor(p *process, s *session) bool {
	return p.Hosts || p.left || s.project.logLost || !s.prompted.After(p.Started) || d.isTyped(s, p.Started) != p.Headless
}

// followsCommand reports whether a session was opened right after a command that leaves one for it.
func (d *discovery) followsCommand(in *project, at time.Time) bool {
	return slices.ContainsFunc(d.log(in), func(l logged) bool {
		return l.leaves() && !l.at.After(at) && at.Sub(l.at) < window
	})
}

// followLog takes the session from a process whose user has left it since. The log has all that is typed in a terminal under the id of its first
// session (0.61.0). After /clear no process has the old ones; after /resume it is not known.
func (d *discovery) followLog(p *process) {
	first := p.session
	if first == nil || p.Headless || p.Hosts {
		return
	}
	p.logID = first.id
	chooses := false
	for _, l := range d.log(first.project) {
		if l.session == first.id && l.leaves() && !l.at.Before(p.Started) && !first.prompted.After(l.at) {
			p.left, p.since, chooses = true, l.at, l.text != "/clear"
		}
	}
	if !p.left {
		return
	}
	first.owner, p.session = nil, nil
	for _, s := range d.sessions {
		s.maybe = slices.DeleteFunc(s.maybe, func(o *process) bool { return o == p })
		if chooses && p.mayHave(s) && s.last.After(p.Started) {
			s.maybe = append(s.maybe, p)
		}
	}
}

// doubt notes which sessions a process without one may have, or a further one of other programs that it hosts. Each has one after its first minute, but for a
// terminal of 0.29.0, and the ones before the last, whose files were removed: if there is none, the clock may have been set, and with it the start
// of the process, so that it has one whose turn is open, or that was written last.
func (d *discovery) doubt(p *process, isLast bool) {
	for _, s := range d.sessions {
		isSince := p.Hosts && s.last.After(p.Started)
		switch {
		case !p.mayHave(s) || p.session != nil && !isSince:
		case isSince || slices.Contains(s.maybe, p):
			s.doubt = fmt.Sprintf("process %d of its folder may have it", p.PID)
		case p.left, p.isYoung(d.now), s.doubt != "":
		case s.turn.isOpen(), isLast && s.Path == s.project.newest.Path && !isObject(s.Path) && !p.Hosts:
			s.doubt = fmt.Sprintf("process %d of its folder has no other session: it has this one if the clock was set since it began", p.PID)
		}
	}
}
