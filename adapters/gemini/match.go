package gemini

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

const (
	// window is the longest time from the start of a process to the beginning of its file: 2 s to 10 s were seen, more under load.
	window = time.Minute
	// slack is the precision of the start of a process.
	slack = 20 * time.Millisecond
)

// match finds the process of each session. It depends only on the files and the processes as they are now.
func (d *discovery) match() {
	groups := map[string][]*process{}
	for _, p := range d.processes {
		if s := d.namedBy(p); s != nil {
			d.assign(p, s, "named by its command line")
		}
		key := p.home + "\x00" + p.cwd
		groups[key] = append(groups[key], p)
	}
	for _, group := range groups {
		d.byStart(group)
		for _, p := range group {
			d.followLog(p)
		}
		d.byActivity(group)
	}
	for _, s := range d.subs {
		if s.parent = d.byID[s.project.home+"\x00"+s.file.parent]; s.parent != nil {
			s.owner, s.how, s.doubt = s.parent.owner, s.parent.how, s.parent.doubt
		}
	}
}

func (d *discovery) assign(p *process, s *session, how string) { p.session, s.owner, s.how = s, p, how }

func (d *discovery) namedBy(p *process) *session {
	for _, s := range d.sessions {
		if p.named != "" && s.id == p.named && s.owner == nil && (!p.known || p.home == s.project.home) {
			return s
		}
	}
	return nil
}

// mayHave reports whether a process can have a session that no process has.
func (p *process) mayHave(s *session) bool {
	return s.owner == nil && s.project.cwd != "" && p.mayUse(s.project)
}

// start is a moment at which a process opened a session (0.61.0: at its own start).
type start struct {
	session *session
	at      time.Time
}

// byStart assigns the sessions that processes of one folder opened when they began. Processes that began shortly after each other open
// them in the same order.
func (d *discovery) byStart(group []*process) {
	group = slices.DeleteFunc(slices.Clone(group), func(p *process) bool { return p.session != nil })
	for len(group) > 0 {
		n := 1
		for n < len(group) && group[n].Started.Sub(group[n-1].Started) < window {
			n++
		}
		d.assignStarts(group[:n])
		group = group[n:]
	}
}

func (d *discovery) assignStarts(group []*process) {
	first, last := group[0], group[len(group)-1]
	var starts []start
	for _, s := range d.sessions {
		if !first.mayHave(s) || isObject(s.path) {
			continue
		}
		var found time.Time
		for _, at := range s.opened {
			if !at.Before(first.Started.Add(-slack)) && at.Before(last.Started.Add(window)) && !d.followsCommand(s.project, at) {
				found = at
			}
		}
		if !found.IsZero() {
			starts = append(starts, start{s, found})
		}
	}
	slices.SortFunc(starts, func(a, b start) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.session.id, b.session.id)) })
	inOrder := len(starts) == len(group)
	for i := range starts {
		inOrder = inOrder && !starts[i].at.Before(group[i].Started.Add(-slack))
	}
	for i, one := range starts {
		how := "it began the session " + one.at.Sub(first.Started).Round(time.Second/10).String() + " after its start"
		if inOrder {
			d.assign(group[i], one.session, how)
			continue
		}
		var may []*process
		for _, p := range group {
			if p.session == nil && !one.at.Before(p.Started.Add(-slack)) && one.at.Before(p.Started.Add(window)) {
				may = append(may, p)
			}
		}
		switch {
		case len(may) == 1 && len(starts) < len(group):
			d.assign(may[0], one.session, how)
		case len(may) > 0:
			one.session.doubt = fmt.Sprintf("%d processes and %d sessions of its folder began at about the same time, so that it is not known which process has it", len(group), len(starts))
		}
	}
}

// leaving are the commands with which a user leaves a session for another one.
var leaving = []string{"/clear", "/new", "/resume", "/chat"}

// followsCommand reports whether a session was opened right after such a command, and so by a process that has run for longer.
func (d *discovery) followsCommand(in *project, at time.Time) bool {
	var before logged
	for _, l := range d.log(in) {
		if !l.at.After(at) {
			before = l
		}
	}
	return at.Sub(before.at) < 10*time.Second && before.isCommand(leaving...)
}

// followLog finds the session in which a process continues after the user left the one with which it began: /clear begins another one,
// /resume and /chat open another one. Each is in the log of prompts under the session that is left.
func (d *discovery) followLog(p *process) {
	for range 100 {
		s := p.session
		if s == nil || p.headless || p.hosts {
			return
		}
		last, ok := d.lastLogged(s, p.Started)
		if !ok || !last.isCommand(leaving...) {
			return
		}
		var next *session
		for _, l := range d.log(s.project) {
			if o := d.byID[s.project.home+"\x00"+l.session]; next == nil && o != nil && o != s && l.at.After(last.at) && p.mayHave(o) {
				next = o
			}
		}
		switch {
		case next != nil:
			p.session, s.owner = nil, nil
			d.assign(p, next, "its user left session "+s.label+" for it")
		case last.isCommand("/clear", "/new"):
			p.session, p.leftAt, s.owner = nil, last.at, nil
			return
		default:
			s.doubt = fmt.Sprintf("process %d had it, and its user typed %.10s since", p.PID, last.text)
			return
		}
	}
}

// byActivity assigns a session that was written since the only process of its folder without one began.
func (d *discovery) byActivity(group []*process) {
	var without []*process
	for _, p := range group {
		if p.session == nil {
			without = append(without, p)
		}
	}
	if len(without) == 0 {
		return
	}
	var found []*session
	for _, s := range d.sessions {
		if s.doubt == "" && s.messages && slices.ContainsFunc(without, func(p *process) bool { return p.mayHave(s) && d.fits(p, s) }) {
			found = append(found, s)
		}
	}
	if len(without) == 1 && len(found) == 1 {
		d.assign(without[0], found[0], "no other session of its folder was written since the process began")
		return
	}
	for _, s := range found {
		s.doubt = fmt.Sprintf("process %d or another one of its folder may have it", without[0].PID)
	}
}

// fits reports whether a process may have a session that was written since it began. A process that began with no session, or left it, has one only after
// a prompt, and what is typed in a terminal is logged.
func (d *discovery) fits(p *process, s *session) bool {
	since := latest(p.Started, p.leftAt)
	if !s.last.After(since) {
		return false
	}
	_, ok := d.lastLogged(s, since)
	return ok || p.leftAt.IsZero() && (p.resumes || p.headless || p.hosts || s.id == p.named)
}
