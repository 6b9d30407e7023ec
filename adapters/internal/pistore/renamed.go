package pistore

import (
	"fmt"
	"slices"

	"rollcall/adapters"
)

// byFormerFolder finds the sessions of processes whose folder was renamed since they began and whose environment does not tell its name: a program that
// starts another one in a folder of its choice leaves its own PWD there. Such a process goes on with the name of before, which leads nowhere now. A session is
// its own if both began together, and if no other process and no other session can be meant.
func (m *matcher) byFormerFolder() {
	begun, began := map[*session][]*process{}, map[*process]int{}
	for _, s := range m.sessions {
		if !m.isFirst(s) {
			continue
		}
		for _, p := range m.processes {
			if m.has[p] == nil && m.mayHaveLeft(p, s) && m.beganWith(p, s) {
				begun[s] = append(begun[s], p)
				began[p]++
			}
		}
	}
	for s, ps := range begun {
		if len(ps) == 1 && began[ps[0]] == 1 {
			ps[0].oldCWD = s.cwd
			m.assign(ps[0], s, "it began when the process did, in a folder that is gone since then")
		}
	}
}

// mayHaveLeft reports whether the folder of a session that was begun and written to since a process began may be that of the process, under the name that it
// had then: it is gone since, and the process has written as much as is in the session. mayBeOpen has what existed before.
func (m *matcher) mayHaveLeft(p *process, s *session) bool {
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
