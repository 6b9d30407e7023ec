package pistore

import (
	"slices"
	"time"
)

// threadStart returns the start of the threads that Node.js creates at the first
// asynchronous file access or name lookup: of the last group of threads that began
// together. In Pi 1.5.2 they begin 5 ms to 350 ms after the session is made; in older
// versions at the first prompt, if at all. The time is zero where it can't be known.
func (d *discovery) threadStart(p *process) time.Time {
	if p.threadStartRead {
		return p.threadStart
	}
	p.threadStartRead = true
	threads, err := d.store.table.Threads(p.Identity)
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
	return after >= -3*clockTick && after <= max(threadsAfter, 4*firstEntryDelay([]*session{s}))
}

// maybeSlow reports whether a process may have begun with a session on a very busy
// machine, and the session is not that of a process that has ended. An earlier name
// lookup starts the threads earlier, but not by more than the rest of the start takes.
func (m *matcher) maybeSlow(p *process, s *session) bool {
	gap, pool := s.at.Sub(p.Started), m.threadStart(p)
	slow := gap <= slowestStart && s.at.Sub(pool) <= max(time.Second, pool.Sub(p.Started)/2)
	if pool.IsZero() || !s.system { // it is not known when the start of the process was over
		slow = gap <= slowStart
	}
	return slow && gap >= 0 && !m.wroteLess(p, s)
}

const (
	threadsAfter = 500 * time.Millisecond // 350 ms were seen
	slowStart    = 20 * time.Second       // the time that counts as the start if its end is not known
	slowestStart = 2 * time.Minute
)

// byThreads assigns to a process the session that was created right before its threads
// began, if only one process and one session fit. Otherwise it assigns nothing: an
// earlier name lookup starts the threads earlier.
func (m *matcher) byThreads(ps []*process, ss []*session) {
	if len(ps) < 2 && len(ss) < 2 {
		return
	}
	reach := max(80*time.Millisecond, firstEntryDelay(ss))
	follows := func(p *process, s *session) bool {
		after := m.threadStart(p).Sub(s.at)
		_, ok := m.startFit(p, s)
		return ok && after >= -3*clockTick && after <= reach
	}
	chosen := map[*process]*session{}
	for _, s := range ss {
		var hosts []*process
		for _, p := range ps {
			if follows(p, s) {
				hosts = append(hosts, p)
			}
		}
		others := len(hosts) == 1 && slices.ContainsFunc(ss, func(o *session) bool { return o != s && follows(hosts[0], o) })
		if len(hosts) == 1 && !others && !m.belongsToAnother(s, hosts[0]) {
			chosen[hosts[0]] = s
		}
	}
	for p, s := range chosen {
		m.assign(s, p, "its threads began when the session did")
	}
}
