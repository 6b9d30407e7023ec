package pistore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// startPrecision is the longest time by which a session can seem to begin before its
// process: start times are kept in clock ticks.
const startPrecision = 2 * clockTick

// startWindow returns the longest time from the start of a process to the beginning of
// its session. The delay of its first entry shows how busy the machine was.
func (s *session) startWindow() time.Duration {
	switch {
	case !s.system:
		return 15 * time.Second
	case s.second.Before(s.at): // a fork: the first entries are the parent's
		return 5 * time.Second
	}
	return min(max(3500*time.Millisecond, 8*s.second.Sub(s.at)), 20*time.Second)
}

// canBegin reports whether the process can have begun with the session. Pi and pi_agent_rust can continue each other's sessions, but begin
// their own.
func (m *matcher) canBegin(p *process, s *session) bool { return p.mayHave(s) && m.beganWith(p, s) }

// beganWith reports whether a session began when a process did, in whatever folder.
func (m *matcher) beganWith(p *process, s *session) bool {
	gap, writer := s.at.Sub(p.Started), s.recorded()
	if gap < -startPrecision || !s.isNumbered(p) || writer != "" && writer != p.agent {
		return false
	}
	return m.threadsFollow(p, s) || gap <= s.startWindow() && !m.wroteLess(p, s)
}

// byStart finds the sessions that processes began with: Pi writes the header's
// time about a second after its start.
func (m *matcher) byStart() {
	begun := map[*session][]*process{} // the processes that can have begun each session
	for _, s := range m.sessions {
		for _, p := range m.processes {
			if m.has[p] == nil && m.canBegin(p, s) && m.isFirst(s) {
				begun[s] = append(begun[s], p)
			}
		}
	}
	for len(begun) > 0 {
		m.assignGroup(takeGroup(begun))
	}
}

// takeGroup removes from begun the sessions that one of them shares a process with, directly or through others, and returns them.
func takeGroup(begun map[*session][]*process) map[*session][]*process {
	group, hosts := map[*session][]*process{}, map[*process]bool{}
	for grown := true; grown; {
		grown = false
		for s, ps := range begun {
			if len(group) == 0 || slices.ContainsFunc(ps, func(p *process) bool { return hosts[p] }) {
				group[s], grown = ps, true
				delete(begun, s)
				for _, p := range ps {
					hosts[p] = true
				}
			}
		}
	}
	return group
}

// assignGroup assigns the sessions of a group that takeGroup returned. If each can have begun in another process, all of them are live, and a session is
// assigned to a process if it can have begun in no other one then. Otherwise nothing is certain.
func (m *matcher) assignGroup(group map[*session][]*process) {
	made := map[*process]*session{}
	for s := range group {
		if place(s, nil, group, made, map[*process]bool{}) {
			continue
		}
		for s, ps := range group {
			s.doubt = fmt.Sprintf("process %d began when this session and another one did", ps[0].PID)
			for _, p := range ps {
				m.has[p] = s
			}
		}
		return
	}
	for p, s := range made {
		others := maps.Clone(made)
		delete(others, p)
		if place(s, p, group, others, map[*process]bool{}) {
			s.hosts = group[s]
		} else {
			m.assign(p, s, "it began when the process did")
		}
	}
	for _, s := range made {
		for _, p := range s.hosts {
			m.has[p] = cmp.Or(m.has[p], s)
		}
	}
}

// place adds a session to made, which has one session at most for each process, in another process than not; for this it may move other sessions
// of the group to other processes. It returns false if that is impossible. tried contains the processes that were tried.
func place(s *session, not *process, group map[*session][]*process, made map[*process]*session, tried map[*process]bool) bool {
	for _, p := range group[s] {
		if p == not || tried[p] {
			continue
		}
		tried[p] = true
		if made[p] == nil || place(made[p], nil, group, made, tried) {
			made[p] = s
			return true
		}
	}
	return false
}

// threadStart returns the start of the threads that Node.js creates at the first asynchronous
// file access or name lookup. If several groups of threads began, it is the start of the last
// group. In Pi 1.5.2 the threads begin 5 ms to 350 ms after the session is made; in older
// versions at the first prompt, if at all. The time is zero where it can't be known.
func (d *discovery) threadStart(p *process) time.Time {
	if p.threadStartRead {
		return p.threadStart
	}
	p.threadStartRead = true
	threads, err := d.store.Table.Threads(p.Identity)
	if err != nil {
		return time.Time{}
	}
	for i := len(threads) - 1; i > 0; i-- {
		if threads[i].Sub(threads[i-1]) <= threadGap {
			for i > 0 && threads[i].Sub(threads[i-1]) <= threadGap {
				i--
			}
			p.threadStart = threads[i]
			break
		}
	}
	return p.threadStart
}

// threadGap is the time within which the threads of one group begin.
const threadGap = 40 * time.Millisecond

// threadsFollow reports whether a process's threads began right after a session did,
// as those of 1.5.2 do: however slow its start was, it made the session.
func (m *matcher) threadsFollow(p *process, s *session) bool {
	if !s.system {
		return false
	}
	after := m.threadStart(p).Sub(s.at)
	return after >= -3*clockTick && after <= max(threadsAfter, 4*min(s.second.Sub(s.at), 2*time.Second))
}

const threadsAfter = 500 * time.Millisecond // 350 ms were seen
