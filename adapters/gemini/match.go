package gemini

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/kit"
)

// window is the longest time from the start of a process to the beginning of its file: 2 s to 10 s were seen, more under load.
const window = time.Minute

// match finds the process of each session. It depends only on the files and the processes as they are now.
func (d *discovery) match() {
	groups := map[string][]*process{}
	for _, p := range d.processes {
		if s := d.namedBy(p); s != nil {
			d.assign(p, s, "named by its command line")
		}
		key := p.Home + "\x00" + p.CWD
		groups[key] = append(groups[key], p)
	}
	for _, group := range groups {
		d.byStart(group)
		for _, p := range group {
			d.followLog(p)
		}
		d.byActivity(group)
	}
	for _, s := range d.sessions {
		i := slices.IndexFunc(s.maybe, func(p *process) bool { return p.session == nil })
		if s.owner == nil && i >= 0 {
			s.doubt = fmt.Sprintf("it began when process %d of its folder did, which may have it", s.maybe[i].PID)
		}
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
		if p.Named != "" && s.id == p.Named && s.owner == nil && p.Uses(s.project.home) {
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
		if !first.mayHave(s) || isObject(s.Path) {
			continue
		}
		var found time.Time
		for _, at := range s.opened {
			if !at.Before(first.Started.Add(-kit.StartSlack)) && at.Before(last.Started.Add(window)) && !d.followsCommand(s.project, at) {
				found = at
			}
		}
		if !found.IsZero() {
			starts = append(starts, start{s, found})
		}
	}
	slices.SortFunc(starts, func(a, b start) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.session.id, b.session.id)) })
	if inOrder := len(starts) == len(group); inOrder {
		for i := range starts {
			inOrder = inOrder && group[i].mayHaveBegun(starts[i].at) && d.wrote(group[i], starts[i].session)
		}
		for i := 0; inOrder && i < len(starts); i++ {
			d.assign(group[i], starts[i].session, starts[i].after(group[i]))
		}
		if inOrder {
			return
		}
	}
	d.assignSure(group, starts)
}

// after describes a start, for evidence.
func (s *start) after(p *process) string {
	return "it began the session " + s.at.Sub(p.Started).Round(time.Second/10).String() + " after its start"
}

// mayHaveBegun reports whether a process may have opened a session at a time, by its own start.
func (p *process) mayHaveBegun(at time.Time) bool {
	return !at.Before(p.Started.Add(-kit.StartSlack)) && at.Before(p.Started.Add(window))
}

// assignSure assigns the sessions that can only be of one process, which can have no other. 0.61.0 removes a file that has no message yet
// when another Gemini CLI starts in its folder, so that there can be fewer sessions than processes.
func (d *discovery) assignSure(group []*process, starts []start) {
	may := make([][]*process, len(starts))
	times := map[*process]int{}
	for i := range starts {
		one := &starts[i]
		var all []*process
		for _, p := range group {
			if p.mayHaveBegun(one.at) {
				if all = append(all, p); d.wrote(p, one.session) {
					may[i] = append(may[i], p)
				}
			}
		}
		for _, p := range may[i] {
			times[p]++
		}
		if len(may[i]) == 0 { // a prompt on standard input is neither typed nor on the command line
			one.session.maybe = all
		}
	}
	for i := range starts {
		switch {
		case len(may[i]) == 1 && times[may[i][0]] == 1:
			d.assign(may[i][0], starts[i].session, starts[i].after(may[i][0]))
		case len(may[i]) > 0:
			starts[i].session.maybe = may[i]
		}
	}
}

// wrote reports whether the messages of a session can be those of a process: what is typed in a terminal is logged, and the prompt of a
// command line is not.
func (d *discovery) wrote(p *process, s *session) bool {
	return p.Hosts || s.project.logLost || !s.prompted.After(p.Started) || d.isTyped(s, p.Started) != p.Headless
}

// choice is how long after such a command the next session may be opened: /resume shows a list.
const choice = time.Minute

// followsCommand reports whether a session was opened right after such a command, and so by a process that has run for longer.
func (d *discovery) followsCommand(in *project, at time.Time) bool {
	return slices.ContainsFunc(d.log(in), func(l logged) bool {
		return l.leaves() && !l.at.After(at) && at.Sub(l.at) < choice
	})
}

// followLog finds the session in which a process continues after its user left the one with which it began. The log has all that is typed
// in a terminal under the id of its first session (0.61.0).
func (d *discovery) followLog(p *process) {
	first := p.session
	if first == nil || p.Headless || p.Hosts {
		return
	}
	p.logID = first.id
	for _, l := range d.log(first.project) {
		if l.session != first.id || l.at.Before(p.Started) || !l.leaves() {
			continue
		}
		now := p.session
		switch next := d.openedAfter(p, l.at); {
		case next != nil:
			now.owner = nil
			d.assign(p, next, "its user left session "+now.label+" for it")
		case now.prompted.After(l.at): // they stayed
		case strings.HasPrefix(l.text, "/clear"):
			now.owner, p.session, p.left = nil, nil, true
			return
		default:
			now.doubt = fmt.Sprintf("process %d had it, and its user has typed %s since", p.PID, l.text[:len("/resume")])
		}
	}
}

// openedAfter returns the session of no process that was opened first after a time.
func (d *discovery) openedAfter(p *process, since time.Time) (next *session) {
	first := since.Add(choice)
	for _, s := range d.sessions {
		for _, at := range s.opened {
			if p.mayHave(s) && !at.Before(since) && at.Before(first) {
				next, first = s, at
			}
		}
	}
	return next
}

// byActivity assigns a session that was written since the only process of its folder without one began.
func (d *discovery) byActivity(group []*process) {
	var without []*process
	for _, p := range group {
		if p.session == nil && !p.left {
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

// fits reports whether a process may have a session that was written since it began. A process that began with no session
// has one only after a prompt, and what is typed in a terminal is logged.
func (d *discovery) fits(p *process, s *session) bool {
	return s.last.After(p.Started) && (p.Resumes || p.Headless || p.Hosts || s.id == p.Named || d.isTyped(s, p.Started))
}
