package gemini

import (
	"fmt"
	"slices"
	"time"

	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// window is the longest time from the start of a process to the beginning of its file, for a process that has none yet: 2 s to 10 s were seen, 15 s
// to 40 s on a busy machine. A file within it can be another process's as well, so that it proves a pair only if no other is possible. /resume
// shows a list first: it is as long after that command.
const window = 2 * time.Minute

type evidence = skeleton.Evidence[*process, *session]

// match finds the process of each session. It depends only on the files and the processes as they are now. A process that hosts can have several sessions.
func (d *discovery) match() {
	d.findFormer()
	for _, p := range d.processes {
		p.since = p.Started
	}
	began := evidence{Rank: skeleton.Fits, Pick: d.openedFirst, Shows: d.fits(d.began)}
	d.assignBy(evidence{Rank: skeleton.Named, Shows: func(p *process, s *session) string {
		return kit.If(p.session == nil && p.Named == s.id && p.Uses(s.project.home), "named by its command line")
	}}, evidence{Rank: skeleton.Fits, Pick: func(_ *process, all []*session) []*session { return all }, Shows: func(p *process, s *session) string {
		return kit.If(p.Hosts && p.mayHave(s) && d.isAuthor(p, s) && s.isHosted(p.Started), "it hosts the sessions of its folder that began since its start")
	}}, began)
	for _, p := range d.processes {
		d.followLog(p)
	}
	d.assignBy(began, evidence{Rank: skeleton.Fits, Shows: d.fits(d.wroteSince)})
	last := map[string]*process{} // of each home and folder
	for _, p := range d.processes {
		last[p.Home+"\x00"+p.Folder()] = p
	}
	for _, p := range d.processes {
		d.doubt(p, last[p.Home+"\x00"+p.Folder()] == p)
	}
	for _, s := range d.subs {
		s.parent = d.mainOf(s)
		if s.parent != nil {
			s.owner = s.parent.owner
			s.how = s.parent.how
			s.doubt = s.parent.doubt
		}
	}
}

// findFormer finds the former folders of processes whose folder was renamed.
func (d *discovery) findFormer() {
	var sessions []skeleton.Begun
	for _, s := range d.sessions {
		if s.messages {
			sessions = append(sessions, skeleton.Begun{Home: s.project.home, CWD: s.project.cwd, At: s.at, Written: s.last})
		}
	}
	d.FindFormer(sessions)
}

func (d *discovery) assignBy(all ...evidence) {
	isFree := func(_ *process, s *session) bool { return s.owner == nil }
	skeleton.Match(d.processes, d.sessions, isFree, d.assign, all...)
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

func (d *discovery) assign(p *process, s *session, how string) {
	p.session = s
	p.sessions++
	s.owner = p
	s.how = how
}

// mayHave reports whether a process can have a session that no process has. One that hosts sessions of other programs can have several, in folders other
// than its own.
func (p *process) mayHave(s *session) bool {
	return s.owner == nil && s.project.cwd != "" && (p.mayUse(s.project) || p.MayHaveLeft(s.project.cwd)) && (p.session == nil || p.Hosts)
}

// isYoung reports whether a process may not have opened its file yet. The start of a process moves when the clock is set.
func (p *process) isYoung(now time.Time) bool {
	age := now.Sub(p.Started)
	return age >= 0 && age < window
}

// fits makes evidence of what a process may have done with a session of its folder. when returns the time of it; zero: it did nothing.
func (d *discovery) fits(when func(*process, *session) (time.Time, string)) func(*process, *session) string {
	return func(p *process, s *session) string {
		at, how := when(p, s)
		return kit.If(!at.IsZero() && p.session == nil && p.mayHave(s) && p.At(s.project.cwd) && d.isAuthor(p, s), how)
	}
}

// openedFirst returns the session that a process opened first, if no other follows within window: one of them is of a process that has ended. The order of
// starts proves nothing: on a busy machine a file can begin before that of an older process.
func (d *discovery) openedFirst(p *process, list []*session) []*session {
	at := func(s *session) time.Time {
		at, _ := d.began(p, s)
		return at
	}
	slices.SortFunc(list, func(a, b *session) int { return at(a).Compare(at(b)) })
	if len(list) > 1 && at(list[1]).Sub(at(list[0])) < window {
		return nil
	}
	return list[:1]
}

// mayBeIts reports whether a process did something that can have been in a session of its folder, or left its own for one that is not known.
func (d *discovery) mayBeIts(p *process, s *session) bool {
	began, _ := d.began(p, s)
	wrote, _ := d.wroteSince(p, s)
	return p.chooses && s.last.After(p.Started) || p.At(s.project.cwd) && (!began.IsZero() || !wrote.IsZero())
}

// began returns when a process opened a session as it began, or after its user left another one. /clear and /resume open one as well, for a
// process that has run for longer.
func (d *discovery) began(p *process, s *session) (at time.Time, how string) {
	for _, o := range s.opened {
		isIn := !o.at.Before(p.since.Add(-kit.StartSlack)) && o.at.Before(p.since.Add(window))
		if isIn && !o.hosted && d.followsCommand(p, s.project, o.at) == p.left && !isObject(s.Path) {
			at = o.at
		}
	}
	if p.left {
		return at, "its user left another session for it"
	}
	return at, "it began the session " + at.Sub(p.since).Round(time.Second/10).String() + " after its start"
}

// wroteSince returns when a session was written since a process began that may have it, because it continues one, or because no file shows when the
// session was opened: it has lost its header, or is of a version that makes it with the first prompt. What another process opened is not of this one.
func (d *discovery) wroteSince(p *process, s *session) (at time.Time, how string) {
	hidden := (isObject(s.Path) || len(s.opened) == 0) && (p.Headless || p.Hosts || d.isTyped(s, p.Started))
	if s.messages && !p.left && s.last.After(p.Started) && (p.Resumes || hidden) {
		at = s.last
	}
	return at, "no other session of its folder was written since the process began"
}

// isAuthor reports whether the messages of a session can be those of a process: what is typed in a terminal is logged, and the prompt of a
// command line is not. A process that hosts works in its own folder, as far as that is certain.
func (d *discovery) isAuthor(p *process, s *session) bool {
	if p.Hosts {
		return p.At(s.project.cwd) && !d.isTyped(s, p.Started)
	}
	return p.left || s.project.logLost || !s.prompted.After(p.Started) || d.isTyped(s, p.Started) != p.Headless
}

// followsCommand reports whether a session was opened right after a command that leaves another one of the same process for it. The log has the command
// under the id of the first session of the process.
func (d *discovery) followsCommand(p *process, in *project, at time.Time) bool {
	return slices.ContainsFunc(d.log(in), func(l logged) bool {
		first := d.byID[in.home+"\x00"+l.session]
		isOwn := first == nil || !first.at.Before(p.since.Add(-kit.StartSlack))
		if p.left {
			isOwn = l.session == p.logID
		}
		return isOwn && l.leaves() && !l.at.After(at) && at.Sub(l.at) < window
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
	for _, l := range d.log(first.project) {
		if l.session == first.id && l.leaves() && !l.at.Before(p.Started) && !first.prompted.After(l.at) {
			p.left = true
			p.since = l.at
			p.chooses = l.chooses()
		}
	}
	if p.left {
		first.owner, p.session = nil, nil
	}
}

// doubt notes which sessions a process without one may have, or a process that hosts besides those that it has. A process has a session after its start,
// unless it is a terminal of 0.29.0, or one whose file was removed because another one started in its folder: so a session that was written since may
// be of it. If there is none, the clock may have been set, and with it the start of the process, so that it has one whose turn is open, or that was
// written last.
func (d *discovery) doubt(p *process, isLast bool) {
	for _, s := range d.sessions {
		wrote := s.messages && s.last.After(p.Started) && d.isAuthor(p, s)
		switch {
		case !p.mayHave(s):
		case d.mayBeIts(p, s), p.MayHaveLeft(s.project.cwd), p.Hosts && (wrote || s.isHosted(p.Started)):
			s.doubt = fmt.Sprintf("process %d may have it", p.PID)
		case p.session != nil, p.left, p.isYoung(d.Now), s.doubt != "":
		case wrote:
			s.doubt = fmt.Sprintf("process %d of its folder has no other session, and this one was written since it began", p.PID)
		case p.At(s.project.cwd) && s.turn.isOpen(), isLast && s.Path == s.project.newest.Path && !isObject(s.Path) && !p.Hosts:
			s.doubt = fmt.Sprintf("process %d of its folder has no other session: it has this one if the clock was set since it began", p.PID)
		}
	}
}
