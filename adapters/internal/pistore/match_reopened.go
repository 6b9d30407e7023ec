package pistore

import (
	"fmt"
	"slices"
	"time"

	"rollcall/adapters/internal/agentfile"
)

// assignReopened assigns the sessions that were reopened by processes which have stored
// nothing since they began, and lists the processes without a session.
func (m *matcher) assignReopened(processes []*process) {
	for _, p := range processes {
		if m.has[p] != nil {
			continue
		}
		if s := m.reopened(p); s != nil {
			if s.owner != nil { // another process read the file too
				s.hosts, s.owner = []*process{s.owner}, nil
			}
			if len(s.hosts) > 0 {
				s.hosts, m.has[p] = append(s.hosts, p), s
			} else {
				m.assign(s, p, reopenedHow)
			}
			continue
		}
		m.sessionless = append(m.sessionless, p)
		m.doubtOtherFolder(p)
		m.doubtOpened(p)
		m.doubtUnread(p)
	}
}

// doubtUnread marks as doubtful the sessions whose last entries could not be read and that were
// written while a process without a session ran in their folder.
func (m *matcher) doubtUnread(p *process) {
	for _, s := range m.sessions {
		if s.isFree() && s.turn.state == lost && p.mayHave(s) && s.info.ModTime().After(p.Started) && !m.excluded(p, s) {
			s.doubt = fmt.Sprintf("process %d in its folder may have written its last entries", p.PID)
		}
	}
}

// doubtOpened marks the newest session in the folder of a process as doubtful if the
// process was started in another folder: the process has opened a session there, and
// reading leaves no trace.
func (m *matcher) doubtOpened(p *process) {
	if !p.moved {
		return
	}
	var newest *session
	for _, s := range m.sessions {
		if p.mayHave(s) && !s.active().After(p.Started) && (newest == nil || s.active().After(newest.active())) {
			newest = s
		}
	}
	if newest != nil && newest.isFree() && !p.noSession && !m.idleTool(p, newest) {
		newest.doubt = fmt.Sprintf("process %d was started in another folder and works in that of this session: it opened this one or an older one", p.PID)
	}
}

const reopenedHow = "it read the session's file when it began"

// reopened returns the session that a process read when it began, as it does with -c and
// --session. If it read several sessions of its folder, reopened returns the one that was
// written last: -c looks at all sessions of the folder and opens the newest. A process that
// watches the repository of another folder opened no session here; another process that started
// at the same time did. If the process's own session may be in a file that can't be read now,
// reopened returns nil: any program may have read the other files.
//
// If Pi does not find an id in its own folder, it searches the sessions of all folders, and
// forks the session that it finds. So if sessions of several folders were read, the process
// opened none of them. A read does not always leave a trace (see wouldShow). If only one
// session, of another folder, was read, the process certainly opened it by its path only if a
// search would have left a trace at another session.
func (m *matcher) reopened(p *process) *session {
	if m.hidden(p) {
		return nil
	}
	own, elsewhere := m.readBy(p)
	switch {
	case len(elsewhere) == 0:
		return newestFile(own)
	case len(own) == 0 && len(elsewhere) == 1 && slices.ContainsFunc(m.sessions, func(s *session) bool { return p.uses(s.root) && wouldShow(s) }):
		return elsewhere[0]
	}
	doubtful := newestFile(own)
	if len(own) == 0 && len(elsewhere) == 1 {
		doubtful = elsewhere[0]
	}
	if s := doubtful; s != nil && s.isFree() {
		s.doubt = fmt.Sprintf("process %d may have opened it, or has searched the sessions of all folders when it began", p.PID)
	}
	return nil
}

// readBy returns the sessions whose files were read while a process started, of its own
// folder and of others.
func (m *matcher) readBy(p *process) (own, elsewhere []*session) {
	for _, s := range m.sessions {
		reads := s.isFree() || s.how == reopenedHow || len(s.hosts) > 0 && s.owner == nil && m.allReopened(s)
		switch {
		case !reads || p.noSession || !p.uses(s.root) || s.active().After(p.Started) || !m.readAtStart(p, s):
		case p.mayHave(s):
			own = append(own, s)
		case !p.isInOtherRepository(s):
			elsewhere = append(elsewhere, s)
		}
	}
	return own, elsewhere
}

// wouldShow reports whether a read of the session's file would have left a trace, and no such
// trace exists. Linux records the time of a read only if the last recorded read was before the
// last write, or more than a day ago.
func wouldShow(s *session) bool { return !agentfile.Accessed(s.info).After(s.info.ModTime()) }

// newestFile returns the session whose file was written last; nil if there is none.
func newestFile(list []*session) (newest *session) {
	for _, s := range list {
		if newest == nil || s.info.ModTime().After(newest.info.ModTime()) {
			newest = s
		}
	}
	return newest
}

// allReopened reports whether every host of a session read the session's file when the host began.
func (m *matcher) allReopened(s *session) bool {
	return !slices.ContainsFunc(s.hosts, func(p *process) bool { return s.active().After(p.Started) })
}

// readAtStart reports whether a session's file was read while the process started. A
// read at the time of the last write does not count.
func (m *matcher) readAtStart(p *process, s *session) bool {
	at := agentfile.Accessed(s.info)
	if !at.After(s.info.ModTime()) || at.Before(p.Started.Add(-clockTick)) {
		return false
	}
	until := p.Started.Add(startLimit)
	if pool := m.threadStart(p); pool.After(p.Started.Add(startMinimum)) { // p has started by that time
		until = pool.Add(startSlack)
	}
	return !at.After(until)
}

const (
	clockTick    = 10 * time.Millisecond  // the precision of the start of a process
	startLimit   = 12 * time.Second       // the longest start of Pi that was seen: 10 s
	startMinimum = 300 * time.Millisecond // the shortest
	startSlack   = 500 * time.Millisecond
)
