package pistore

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// session is one conversation of the store.
type session struct {
	file
	facts
	readErr error // why it could not be read
	// unheaded reports that the header could not be read and that the id comes from the
	// file's name.
	unheaded bool
	realCWD  string       // cwd without symbolic links
	spent    *kit.Account // what counts for it; nil: not known, or not asked for

	twins     []*session // further files of it
	mayBeLive bool       // it was read to find out whether a process has it

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

// slack is the largest error of a comparison between the times of a session and of its
// process: start times are kept in clock ticks, and the boot time in seconds. A session
// that seems up to slack older than a process may still be its own.
const slack = 1500 * time.Millisecond

// match finds the process of each session. It depends only on the sessions and the
// processes as they are now: every adapter and every Rollcall gets the same result.
func (d *discovery) match() {
	m := matcher{discovery: d, sessions: d.live, has: map[*process]*session{}}
	slices.SortFunc(m.sessions, func(a, b *session) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
	d.sessionless = nil
	skeleton.Match(d.processes, m.sessions, m.isFree, m.assign,
		evidence{Rank: skeleton.Runs, Shows: (*process).runsFor},
		evidence{Rank: skeleton.Named, Shows: func(p *process, s *session) string {
			return kit.If(p.file != "" && agentproc.RealPath(s.path) == p.file, "named by --session")
		}})
	m.byStart()
	m.byFormerFolder()
	m.followIDs()
	m.assignResumed(d.processes)
	for _, p := range d.processes {
		m.doubtMovedOn(p)
	}
	m.listSessionless(d.processes)
}

// matcher finds the process of each session of a discovery.
type matcher struct {
	*discovery
	sessions []*session
	has      map[*process]*session
}

type evidence = skeleton.Evidence[*process, *session]

// isFree reports whether neither a process nor a session is known to have another one.
func (m *matcher) isFree(p *process, s *session) bool { return m.has[p] == nil && s.isFree() }

// assign records that a process has a session, and how that is known.
func (m *matcher) assign(p *process, s *session, how string) {
	s.owner = p
	s.how = how
	m.has[p] = s
}

// mayHave reports whether p can have begun a session or found it in its folder.
func (p *process) mayHave(s *session) bool {
	return s.cwd != "" && (s.cwd == p.cwd || s.realCWD == p.cwd || s.cwd == p.oldCWD) && p.uses(s.root)
}

// runsFor returns how it is shown that a process runs a tool of a session, which Pi 1.5.2 names in the environment of its tools; empty: it is not.
func (p *process) runsFor(s *session) string {
	var newest toolProcess
	for _, k := range p.children {
		if k.session != "" && k.Start > newest.Start {
			newest = k
		}
	}
	if newest.session != s.id || s.id == "" {
		return ""
	}
	isFile := newest.file == "" || newest.file == s.path || !p.known || agentproc.RealPath(newest.file) == agentproc.RealPath(s.path)
	return kit.If(isFile, fmt.Sprintf("its tool %d has PI_SESSION_ID", newest.PID))
}

// made reports whether the process created the session that it has.
func (p *process) made(s *session) bool { return !s.at.Before(p.Started.Add(-slack)) }

// followIDs finds the sessions in which processes have continued: /new, /fork and /clone
// begin a session in the same process, and a process numbers its ids.
func (m *matcher) followIDs() {
	for _, first := range m.sessions {
		if len(first.hosts) == 0 && (first.owner == nil || !first.owner.made(first)) {
			continue
		}
		switch now := m.continued(first); {
		case now == first:
		case first.owner == nil:
			now.hosts, first.hosts = first.hosts, nil
		default:
			m.assign(first.owner, now, fmt.Sprintf("its id follows that of session %.13s of the process", first.id))
			first.owner, first.how = nil, ""
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
		case s == now, s.owner != nil, len(s.hosts) > 0, !p.mayHave(s), !s.active().After(now.active()):
		case p.made(now) && p.made(s) && s.system: // versions from 0.9 on number their ids: the session belongs to another process
		case p.made(s) && now.active().After(s.at): // p was still in its session when another process began that one
		default:
			reason := fmt.Sprintf("process %d had session %.13s and may have continued with %.13s, which was written to later", p.PID, now.id, s.id)
			s.doubt, now.doubt = reason, reason
		}
	}
}

// candidates are the sessions that a process without a session may have, written since it began.
type candidates struct {
	old        []*session // existed before, and were prompted since
	later      []*session // were begun since
	unnumbered []*session // of a version whose ids show nothing
}

func (m *matcher) candidates(p *process) (c candidates) {
	for _, s := range m.sessions {
		switch {
		case !s.isFree() || !p.mayHave(s) || s.active().Before(p.Started):
		case !s.isNumbered(p):
			if s.at.Before(p.Started) || !m.wroteLess(p, s) {
				c.unnumbered = append(c.unnumbered, s)
			}
		case m.idleTool(p, s):
		case s.at.After(p.Started.Add(slack)):
			c.later = append(c.later, s)
		case s.prompted.After(p.Started) && s.stored.Before(p.Started): // it existed and could be resumed
			c.old = append(c.old, s)
		}
	}
	return c
}

// rivals returns the processes of p's folder without a session, p among them.
func (m *matcher) rivals(processes []*process, p *process) (rivals []*process) {
	for _, o := range processes {
		if m.has[o] == nil && o.cwd == p.cwd {
			rivals = append(rivals, o)
		}
	}
	return rivals
}

// assignResumed assigns the sessions that existed before a process began and were
// prompted since.
func (m *matcher) assignResumed(processes []*process) {
	for _, p := range processes {
		if m.has[p] != nil {
			continue
		}
		c, rivals := m.candidates(p), m.rivals(processes, p)
		switch {
		case len(c.unnumbered) == 1 && len(c.old)+len(c.later) == 0 && len(rivals) == 1:
			m.assign(p, c.unnumbered[0], "no other session of its folder was written since the process began")
		case len(c.unnumbered) > 0:
			for _, s := range slices.Concat(c.unnumbered, c.old) {
				s.doubt = fmt.Sprintf("process %d of its folder may have it: %s", p.PID, floor.Reason(""))
			}
		case len(c.old) == 1 && len(rivals) == 1:
			m.assign(p, c.old[0], resumedHow)
		case len(c.old) > 0:
			m.shareHosts(p, c.old, rivals)
		}
		m.doubtLater(p, c.later)
	}
}

// doubtLater marks as doubtful the sessions that were begun while a process without a session ran: it has them after a slow
// start or after /new, unless it has written less than that.
func (m *matcher) doubtLater(p *process, later []*session) {
	for _, s := range later {
		if s.isFree() && m.has[p] == nil && !m.wroteLess(p, s) {
			s.doubt = fmt.Sprintf("it was begun while process %d ran, which may have it, or have stored nothing yet", p.PID)
		}
	}
}

// isNumbered reports whether the ids of a session's process show what it begins: since Pi 0.87, and for pi_agent_rust, which
// names its session on the command line.
func (s *session) isNumbered(p *process) bool { return s.system || p.agent == PiRust }

// floor is the first version whose ids show which process has a session.
var floor = kit.Floor{Title: "Pi", Version: "0.87"}

const resumedHow = "it has been prompted since the process began"

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

// listSessionless lists the processes without a session, and marks as doubtful the sessions that they may have
// nevertheless: reading leaves no certain trace.
func (m *matcher) listSessionless(processes []*process) {
	free := slices.DeleteFunc(slices.Clone(m.sessions), func(s *session) bool { return !s.isFree() })
	for _, p := range processes {
		if m.has[p] != nil {
			continue
		}
		m.sessionless = append(m.sessionless, p)
		p.mayWork = p.mayWork || p.setBack
		for _, s := range free {
			if !p.noSession && p.uses(s.root) && !m.hidden(p) {
				s.doubt = cmp.Or(s.doubt, m.mayBeOpen(p, s))
			}
		}
	}
}

// mayBeOpen returns why a process without a session may have one; empty: it certainly has not.
func (m *matcher) mayBeOpen(p *process, s *session) string {
	switch {
	case m.idleTool(p, s):
	case !p.mayHave(s) && s.prompted.After(p.Started) && s.stored.Before(p.Started) && !p.isInOtherRepository(s):
		return fmt.Sprintf("process %d of another folder, which has stored nothing there, may have it", p.PID)
	case !p.mayHave(s) && m.mayHaveLeft(p, s):
		return p.doubtLeft(s)
	case !p.mayHave(s):
	case s.turn.state == lost && s.info.ModTime().After(p.Started):
		return fmt.Sprintf("process %d in its folder may have written its last entries", p.PID)
	case !s.active().After(p.Started) && s.readSince(p.Started):
		return fmt.Sprintf("process %d in its folder has stored nothing since it began, and may have opened this session", p.PID)
	case s.busy() && s.active().Before(p.Started) && !m.wroteLess(p, s) && !m.isQuiet(p):
		p.mayWork = true
		return fmt.Sprintf("process %d in its folder has stored nothing since it began: it has this session if the clock was set since", p.PID)
	}
	return ""
}

// readSince reports whether a session's file can have been read since a time. Linux records the time of a read only if the
// last recorded one was before the last write, or more than a day ago. Where no times of reads are kept, any file can have
// been.
func (f *file) readSince(since time.Time) bool {
	at := agentfile.Accessed(f.info)
	return !agentfile.KeepsReadTimes(f.path) || at.After(f.info.ModTime()) && since.Sub(at) < 24*time.Hour
}

// wroteLess reports whether a process has written less since its start than is in the
// file of a session that began later: the process did not make it. A Pi that was never
// prompted has written 3 KB to 6 KB to its terminal, and 1.5.2 stores 6 KB and more
// with the first prompt. The system may have copied the beginning of a fork.
func (m *matcher) wroteLess(p *process, s *session) bool {
	if s.parent != "" {
		return false
	}
	n, err := m.store.Table.Written(p.Identity) // after the file's size was read
	return err == nil && s.info.Size() > 0 && n < uint64(s.info.Size())
}

// clockTick is the precision of the start of a process.
const clockTick = 10 * time.Millisecond
