package pistore

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// session is one conversation of the store.
type session struct {
	file
	facts
	bad  error  // why it could not be read
	real string // cwd without symbolic links

	owner *process // the process that surely has it
	how   string   // how that is known
	// hosts are the processes of which one has it, when which one can't be told.
	hosts []*process
	doubt string // why it can't be told whether a process has it
}

// active is when the session was written to last.
func (s *session) active() time.Time {
	if s.last.After(s.at) {
		return s.last
	}
	return s.at
}

// free says whether nobody is known to have the session.
func (s *session) free() bool { return s.owner == nil && len(s.hosts) == 0 && s.doubt == "" }

// held is which session a process was last surely seen with.
type held struct {
	session string
	active  time.Time // of the session, then
	file    file
}

// slack is how much later than the process a session can seem to be older than
// it: clocks are kept in ticks, and the time of the boot in seconds.
const slack = 1500 * time.Millisecond

// match finds the process of each session. It is a pure function of the sessions
// and processes, and of which were seen together before: both adapters come to
// the same result.
func (d *discovery) match() {
	m := matcher{sessions: d.live, has: map[*process]*session{}, before: d.heldBefore(), at: d.at}
	slices.SortFunc(m.sessions, func(a, b *session) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
	for _, p := range d.processes {
		m.byTool(p)
	}
	m.byStart(d.processes)
	for _, p := range d.processes {
		m.byMemory(p, d.heldBy(p))
		m.follow(p)
	}
	m.followShared()
	m.resumed(d.processes)
	for _, p := range d.processes {
		m.wander(p)
	}
	m.silent(d.processes)
	d.loose = m.loose
}

type matcher struct {
	sessions []*session
	has      map[*process]*session
	before   map[string]heldBy
	loose    []*process // without any session
	at       time.Time
}

// heldBy is held, by session.
type heldBy struct {
	pid    int
	alive  bool
	active time.Time
}

func (m *matcher) give(s *session, p *process, how string) {
	s.owner, s.how, m.has[p] = p, how, s
}

// can says whether a session can be one that p began or found in its folder.
func (p *process) can(s *session) bool {
	return s.cwd != "" && (s.cwd == p.cwd || s.real == p.cwd || s.cwd == p.was) && p.uses(s.root)
}

// byTool uses what the tools of 1.5.2 are told, and pi_agent_rust's arguments.
func (m *matcher) byTool(p *process) {
	var newest *kid
	for i := range p.kids {
		k := &p.kids[i]
		if k.session != "" && (newest == nil || k.Start > newest.Start) {
			newest = k
		}
	}
	for _, s := range m.sessions {
		if !s.free() {
			continue
		}
		if newest != nil && s.id == newest.session && (newest.file == "" || newest.file == s.path || !p.known || realPath(newest.file) == realPath(s.path)) {
			m.give(s, p, fmt.Sprintf("its tool %d has PI_SESSION_ID", newest.PID))
			return
		}
	}
	for _, s := range m.sessions {
		if p.file != "" && s.free() && realPath(s.path) == p.file {
			m.give(s, p, "named by --session")
			return
		}
	}
}

// anothers says whether a session was seen with another process before, and
// nobody has written to it since.
func (m *matcher) anothers(s *session, p *process) bool {
	h, ok := m.before[s.id]
	return ok && h.pid != p.PID && !h.alive && !s.active().After(h.active)
}

// byMemory uses what was seen of the process earlier.
func (m *matcher) byMemory(p *process, id string) {
	for _, s := range m.sessions {
		if m.has[p] == nil && s.id == id && s.free() {
			m.give(s, p, "it was seen with it before")
		}
	}
}

// made says whether the process surely made the session that it has.
func (p *process) made(s *session) bool { return !s.at.Before(p.Started.Add(-slack)) }

// follow finds the session that a process has gone on to: /new, /fork and /clone
// begin one in the same process, and the ids of one process are numbered.
func (m *matcher) follow(p *process) {
	first := m.has[p]
	if first == nil || first.owner != p || !p.made(first) {
		return
	}
	now := first
	for _, s := range m.sessions {
		if s.free() && sameMaker(first, s) && s.active().After(now.active()) {
			now = s
		}
	}
	if now != first {
		first.owner, first.how = nil, ""
		m.give(now, p, fmt.Sprintf("its id follows that of session %.13s of the process", first.id))
	}
}

// followShared is follow for processes that can't be told apart.
func (m *matcher) followShared() {
	for _, first := range m.sessions {
		if len(first.hosts) == 0 {
			continue
		}
		now := first
		for _, s := range m.sessions {
			if s.free() && sameMaker(first, s) && s.active().After(now.active()) {
				now = s
			}
		}
		if now != first {
			now.hosts, first.hosts = first.hosts, nil
		}
	}
}

// wander doubts what a process has when something was written later in a session
// that it may have gone on to.
func (m *matcher) wander(p *process) {
	now := m.has[p]
	if now == nil || now.owner != p || now.turn.state == open || now.turn.state == retrying {
		return // it is busy there
	}
	for _, s := range m.sessions {
		switch {
		case s == now, s.owner != nil, len(s.hosts) > 0, !p.can(s), !s.active().After(now.active()), m.anothers(s, p):
		case p.made(now) && p.made(s) && s.system: // versions from 0.9 on number their ids: it is another's
		case p.made(s) && now.active().After(s.at): // p was still where it is when another one began that
		default:
			reason := fmt.Sprintf("process %d had session %.13s and may have gone on to %.13s, in which something was written later", p.PID, now.id, s.id)
			s.doubt, now.doubt = reason, reason
		}
	}
}

// resumed finds sessions that were there before a process began and were
// prompted since.
func (m *matcher) resumed(processes []*process) {
	for _, p := range processes {
		if m.has[p] != nil {
			continue
		}
		var old, young []*session
		for _, s := range m.sessions {
			switch {
			case !s.free() || !p.can(s) || s.active().Before(p.Started) || m.anothers(s, p) || m.idleTool(p, s):
			case s.at.After(p.Started.Add(slack)):
				young = append(young, s)
			case s.prompted.After(p.Started) && s.stored.Before(p.Started): // it was there to be resumed
				old = append(old, s)
			}
		}
		rivals := 0
		for _, o := range processes {
			if m.has[o] == nil && o.cwd == p.cwd {
				rivals++
			}
		}
		switch {
		case len(old) == 1 && rivals == 1:
			m.give(old[0], p, "it was prompted since the process began")
		case len(old) > 0:
			m.share(p, old, rivals, processes)
		}
		for _, s := range young {
			if s.free() && m.has[p] == nil {
				s.doubt = fmt.Sprintf("it was begun while process %d ran, which may have it, or have stored nothing yet", p.PID)
			}
		}
	}
}

// share is resumed for several sessions or several processes.
func (m *matcher) share(p *process, old []*session, rivals int, processes []*process) {
	var hosts []*process
	for _, o := range processes {
		if m.has[o] == nil && o.cwd == p.cwd {
			hosts = append(hosts, o)
		}
	}
	for _, s := range old {
		if len(old) <= rivals {
			s.hosts = hosts
		} else {
			s.doubt = fmt.Sprintf("process %d has it or another one of this folder", p.PID)
		}
	}
	if len(old) >= rivals {
		for _, o := range hosts {
			m.has[o] = old[0]
		}
	}
}

// idleTool says whether a session waits for a command that p surely doesn't run.
func (m *matcher) idleTool(p *process, s *session) bool {
	return s.turn.state == open && s.turn.calls > 0 && s.turn.tool == "bash" && len(p.kids) == 0 && m.at.Sub(s.turn.at) > 3*time.Second
}

// elsewhere doubts a session of another folder that was there when p began and was
// prompted since: p may have opened it by its path.
func (m *matcher) elsewhere(p *process) {
	for _, s := range m.sessions {
		if s.free() && p.uses(s.root) && !p.can(s) && !p.self && s.prompted.After(p.Started) && s.stored.Before(p.Started) &&
			!p.notIn(s) && !m.idleTool(p, s) && !m.anothers(s, p) {
			s.doubt = fmt.Sprintf("process %d of another folder, which has stored nothing there, may have it", p.PID)
		}
	}
}

// silent lists the processes that have stored nothing since they began. The
// newest session of the folder may have been resumed by such a one.
func (m *matcher) silent(processes []*process) {
	for _, p := range processes {
		if m.has[p] != nil {
			continue
		}
		m.loose = append(m.loose, p)
		m.elsewhere(p)
		var newest *session // as it was when the process began
		for _, s := range m.sessions {
			if p.can(s) && !s.active().After(p.Started) && (newest == nil || s.active().After(newest.active())) {
				newest = s
			}
		}
		if newest != nil && newest.free() && !p.self && !m.idleTool(p, newest) {
			newest.doubt = fmt.Sprintf("process %d in its folder has written nothing since it began %s: it resumed this session, or begins a new one",
				p.PID, clock(p.Started, m.at))
		}
	}
}
