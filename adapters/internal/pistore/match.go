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
	readErr error // why it could not be read
	// unheaded reports that the header could not be read and that the id comes from the
	// file's name.
	unheaded bool
	realCWD  string // cwd without symbolic links

	owner *process // the process that certainly has it
	how   string   // how that is known
	// hosts lists the processes of which one has the session, if it is not known which
	// one.
	hosts []*process
	doubt string // why it is not known whether a process has it
}

// busy reports whether the session is in a turn, or about to try again.
func (s *session) busy() bool { return s.turn.state == open || s.turn.state == retrying }

// active returns when the session was written to last.
func (s *session) active() time.Time {
	if s.last.After(s.at) {
		return s.last
	}
	return s.at
}

// isFree reports whether no process is known to have the session.
func (s *session) isFree() bool { return s.owner == nil && len(s.hosts) == 0 && s.doubt == "" }

// lastSession is the session with which a process was certainly seen last.
type lastSession struct {
	session string
	active  time.Time // of the session, then
	file    file
}

// slack is the largest error of a comparison between the times of a session and of its
// process: start times are kept in clock ticks, and the boot time in seconds. A session
// that seems up to slack older than a process may still be its own.
const slack = 1500 * time.Millisecond

// match finds the process of each session. It depends only on the sessions, the
// processes, and which were seen together before: both adapters get the same result.
func (d *discovery) match() {
	m := matcher{discovery: d, sessions: d.live, has: map[*process]*session{}, holders: d.holdersBefore()}
	slices.SortFunc(m.sessions, func(a, b *session) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
	d.sessionless = nil
	for _, p := range d.processes {
		m.byTool(p)
		m.byWriting(p)
	}
	for _, p := range d.processes {
		m.byMemory(p)
	}
	m.byStart(d.processes)
	for _, p := range d.processes {
		m.followIDs(p)
	}
	m.followSharedIDs()
	m.assignResumed(d.processes)
	for _, p := range d.processes {
		m.doubtMovedOn(p)
	}
	m.assignReopened(d.processes)
}

// matcher finds the process of each session of a discovery.
type matcher struct {
	*discovery
	sessions []*session
	has      map[*process]*session
	holders  map[string]holder // the process with which each session was seen at earlier calls
}

// holder maps each session to its process: it is the inverse of held.
type holder struct {
	pid    int
	alive  bool
	active time.Time
}

// holdersBefore returns the process with which each session was seen at earlier calls.
func (d *discovery) holdersBefore() map[string]holder {
	before := make(map[string]holder, len(d.lastSessions))
	for id, h := range d.lastSessions {
		alive := slices.ContainsFunc(d.processes, func(p *process) bool { return p.Identity == id })
		if old, there := before[h.session]; !there || alive || !old.alive && h.active.After(old.active) {
			before[h.session] = holder{pid: id.PID, alive: alive, active: h.active}
		}
	}
	return before
}

// assign records that a process has a session, and how that is known.
func (m *matcher) assign(s *session, p *process, how string) {
	s.owner, s.how, m.has[p] = p, how, s
}

// mayHave reports whether p can have begun a session or found it in its folder.
func (p *process) mayHave(s *session) bool {
	return s.cwd != "" && (s.cwd == p.cwd || s.realCWD == p.cwd || s.cwd == p.oldCWD) && p.uses(s.root)
}

// byTool assigns the session that Pi 1.5.2 names in the environment of its tools, and
// the one that is named in the arguments of pi_agent_rust.
func (m *matcher) byTool(p *process) {
	var newest *toolProcess
	for i := range p.children {
		k := &p.children[i]
		if k.session != "" && (newest == nil || k.Start > newest.Start) {
			newest = k
		}
	}
	for _, s := range m.sessions {
		if !s.isFree() {
			continue
		}
		if newest != nil && s.id == newest.session && (newest.file == "" || newest.file == s.path || !p.known || realPath(newest.file) == realPath(s.path)) {
			m.assign(s, p, fmt.Sprintf("its tool %d has PI_SESSION_ID", newest.PID))
			return
		}
	}
	for _, s := range m.sessions {
		if p.file != "" && s.isFree() && realPath(s.path) == p.file {
			m.assign(s, p, "named by --session")
			return
		}
	}
}

// belongsToAnother reports whether a session was seen with another process before, and
// has not been written to since.
func (m *matcher) belongsToAnother(s *session, p *process) bool {
	h, ok := m.holders[s.id]
	return ok && h.pid != p.PID && !h.alive && !s.active().After(h.active)
}

// byMemory assigns the session that the process was seen with before.
func (m *matcher) byMemory(p *process) {
	id := m.lastSessions[p.Identity].session
	for _, s := range m.sessions {
		if m.has[p] == nil && s.id == id && s.isFree() {
			m.assign(s, p, "it had this session when it was last seen")
		}
	}
}

// made reports whether the process created the session that it has.
func (p *process) made(s *session) bool { return !s.at.Before(p.Started.Add(-slack)) }

// followIDs finds the session in which a process has continued: /new, /fork and /clone
// begin a session in the same process, and a process numbers its ids.
func (m *matcher) followIDs(p *process) {
	first := m.has[p]
	if first == nil || first.owner != p || !p.made(first) {
		return
	}
	if now := m.continued(first); now != first {
		first.owner, first.how = nil, ""
		m.assign(now, p, fmt.Sprintf("its id follows that of session %.13s of the process", first.id))
	}
}

// followSharedIDs does the same as followIDs for processes that can't be distinguished.
func (m *matcher) followSharedIDs() {
	for _, first := range m.sessions {
		if len(first.hosts) == 0 {
			continue
		}
		if now := m.continued(first); now != first {
			now.hosts, first.hosts = first.hosts, nil
		}
	}
}

// continued returns the session that the process of a session used last, according to the ids.
func (m *matcher) continued(first *session) *session {
	now := first
	for _, s := range m.sessions {
		if s.isFree() && isSameProcess(first, s) && s.active().After(now.active()) {
			now = s
		}
	}
	return now
}

// doubtMovedOn marks a process's session as doubtful if a session in which the process
// may have continued was written to later.
func (m *matcher) doubtMovedOn(p *process) {
	now := m.has[p]
	if now == nil || now.owner != p || now.busy() {
		return // it is busy there
	}
	for _, s := range m.sessions {
		switch {
		case s == now, s.owner != nil, len(s.hosts) > 0, !p.mayHave(s), !s.active().After(now.active()), m.belongsToAnother(s, p), m.excluded(p, s):
		case p.made(now) && p.made(s) && s.system: // versions from 0.9 on number their ids: the session belongs to another process
		case p.made(s) && now.active().After(s.at): // p was still in its session when another process began that one
		default:
			reason := fmt.Sprintf("process %d had session %.13s and may have continued with %.13s, which was written to later", p.PID, now.id, s.id)
			s.doubt, now.doubt = reason, reason
		}
	}
}

// assignResumed assigns the sessions that existed before a process began and were
// prompted since.
func (m *matcher) assignResumed(processes []*process) {
	for _, p := range processes {
		if m.has[p] != nil {
			continue
		}
		var old, later []*session
		for _, s := range m.sessions {
			switch {
			case !s.isFree() || !p.mayHave(s) || s.active().Before(p.Started) || m.belongsToAnother(s, p) || m.excluded(p, s) || m.idleTool(p, s):
			case s.at.After(p.Started.Add(slack)):
				later = append(later, s)
			case s.prompted.After(p.Started) && s.stored.Before(p.Started): // it existed and could be resumed
				old = append(old, s)
			}
		}
		var rivals []*process // p among them
		for _, o := range processes {
			if m.has[o] == nil && o.cwd == p.cwd {
				rivals = append(rivals, o)
			}
		}
		switch {
		case len(old) == 1 && len(rivals) == 1:
			m.assign(old[0], p, "it has been prompted since the process began")
		case len(old) > 0:
			m.shareHosts(p, old, rivals)
		}
		for _, s := range later {
			if s.isFree() && m.has[p] == nil {
				m.doubtYoung(p, s)
			}
		}
	}
}

// doubtYoung marks a session as doubtful if it began while a process without a session
// was running.
func (m *matcher) doubtYoung(p *process, s *session) {
	switch {
	case m.maybeSlow(p, s):
		s.doubt = fmt.Sprintf("process %d began %.1f s before it, and may have it after a slow start, or have stored nothing yet",
			p.PID, s.at.Sub(p.Started).Seconds())
	case s.busy(), s.turn.state == lost: // only after /new, which is rare: no death is reported for this case
		s.doubt = fmt.Sprintf("it was begun while process %d ran, which may have it, or have stored nothing yet", p.PID)
	}
}

// shareHosts does the same as assignResumed for several sessions or several processes.
func (m *matcher) shareHosts(p *process, old []*session, hosts []*process) {
	for _, s := range old {
		if len(old) <= len(hosts) {
			s.hosts = hosts
		} else {
			s.doubt = fmt.Sprintf("process %d has this session or another one of this folder", p.PID)
		}
	}
	if len(old) >= len(hosts) {
		for _, o := range hosts {
			m.has[o] = old[0]
		}
	}
}

// idleTool reports whether a session waits for a command that p does not run.
func (m *matcher) idleTool(p *process, s *session) bool {
	return s.turn.state == open && s.turn.calls > 0 && s.turn.tool == "bash" && len(p.children) == 0 && m.now.Sub(s.turn.at) > 3*time.Second
}

// doubtOtherFolder marks a session of another folder as doubtful if it existed when p
// began and was prompted since: p may have opened it by its path.
func (m *matcher) doubtOtherFolder(p *process) {
	for _, s := range m.sessions {
		if s.isFree() && p.uses(s.root) && !p.mayHave(s) && !p.noSession && s.prompted.After(p.Started) && s.stored.Before(p.Started) &&
			!p.isInOtherRepository(s) && !m.idleTool(p, s) && !m.belongsToAnother(s, p) && !m.excluded(p, s) {
			s.doubt = fmt.Sprintf("process %d of another folder, which has stored nothing there, may have it", p.PID)
		}
	}
}
