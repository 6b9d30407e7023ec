package pistore

import (
	"fmt"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// byFormerFolder finds the sessions of processes whose folder was renamed since they began and whose environment does not tell its name: a program that
// starts another one in a folder of its choice leaves its own PWD there. Such a process goes on with the name of before, which leads nowhere now. A session is
// its own if both began together, and if no other process and no other session can be meant.
func (m *matcher) byFormerFolder() {
	skeleton.Match(m.processes, m.sessions, m.isFree, func(p *process, s *session, how string) {
		p.oldCWD = s.cwd
		m.assign(p, s, how)
	}, evidence{Rank: skeleton.Fits, Shows: m.leftWith, Pick: func(p *process, list []*session) []*session {
		isOther := func(s *session) bool { return s != list[0] && s.isFree() && m.leftWith(p, s) != "" }
		if slices.ContainsFunc(m.sessions, isOther) {
			return nil
		}
		return list
	}})
}

// leftWith returns how a process can have begun with a session in a folder that is gone since; empty: it can't.
func (m *matcher) leftWith(p *process, s *session) string {
	return kit.If(m.beganWith(p, s) && m.mayHaveLeft(p, s) && m.isFirst(s), "it began when the process did, in a folder that is gone since then")
}

// mayHaveLeft reports whether the folder of a session that was begun and written to since a process began may be that of the process, under the name that it
// had then: it is gone since, and the process has written as much as is in the session. mayBeOpen has what existed before. A process in whose folder sessions are
// stored is where it began.
func (m *matcher) mayHaveLeft(p *process, s *session) bool {
	if slices.ContainsFunc(m.sessions, p.mayHave) {
		return false
	}
	may, _ := adapters.MayHaveLeft(s.cwd, []string{"PWD=" + p.env["PWD"]}, p.cwd, p.Started)
	return may && !p.contained && !p.noSession && !p.moved && p.uses(s.root) && p.made(s) && !p.BeganAfter(s.active()) && !m.wroteLess(p, s)
}

// doubtLeft returns why a process without a session may have one of a folder that is gone.
func (p *process) doubtLeft(s *session) string {
	p.mayHaveSession = true
	return fmt.Sprintf("folder %q is gone: process %d, which has stored nothing where it is now, has this session if that was its folder", s.cwd, p.PID)
}

// isFirst reports whether no process is known to have the session, and no session that its process had before is known.
func (m *matcher) isFirst(s *session) bool {
	return s.isFree() && !slices.ContainsFunc(m.sessions, func(o *session) bool { return o.at.Before(s.at) && isSameProcess(o, s) })
}
