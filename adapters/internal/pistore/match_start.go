package pistore

import (
	"cmp"
	"fmt"
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

// usualStart returns how long after its process's start a session usually begins.
func (s *session) usualStart() time.Duration {
	if s.system {
		return 900 * time.Millisecond
	}
	return 1500 * time.Millisecond
}

// startTolerance returns the smallest difference between the starts of two sessions at
// which they can be distinguished. 1.5.2 takes 0.5 s to 1.8 s, and 3 s on a busy
// machine; 0.73.1 takes 0.6 s when its files are in the system's cache, 4 s when not,
// 10 s on a busy machine.
func (s *session) startTolerance(busy time.Duration) time.Duration {
	if s.system {
		return max(700*time.Millisecond, 4*busy)
	}
	return max(3*time.Second, 8*busy)
}

// firstEntryDelay returns the longest delay of the first entry of these sessions, at
// most 2 s.
func firstEntryDelay(ss []*session) (longest time.Duration) {
	for _, s := range ss {
		longest = max(longest, s.second.Sub(s.at))
	}
	return min(longest, 2*time.Second)
}

// startFit returns how far a session's beginning is from the usual time after a process's
// start. ok reports whether the process can have begun with the session.
func (m *matcher) startFit(p *process, s *session) (off time.Duration, ok bool) {
	gap := s.at.Sub(p.Started)
	if gap < -startPrecision {
		return 0, false
	}
	if !p.mayHave(s) || !s.isNumbered(p) {
		return 0, false
	}
	follows := m.threadsFollow(p, s)
	return (gap - s.usualStart()).Abs(), follows || gap <= s.startWindow() && !m.wroteLess(p, s)
}

// byStart finds the sessions that processes began with: Pi writes the header's
// time about a second after its start.
func (m *matcher) byStart(processes []*process) {
	folders := map[string][]*process{}
	for _, p := range processes {
		if m.has[p] == nil {
			folders[p.cwd] = append(folders[p.cwd], p)
		}
	}
	for _, ps := range folders {
		m.byThreads(ps, m.beginnings(ps))
		ps = slices.DeleteFunc(ps, func(p *process) bool { return m.has[p] != nil })
		if ss := m.beginnings(ps); !m.inOrder(ps, ss) {
			m.nearest(ps, ss)
		}
	}
}

// beginnings returns the sessions that one of the processes may have begun with.
func (m *matcher) beginnings(ps []*process) (ss []*session) {
	for _, s := range m.sessions {
		first := !slices.ContainsFunc(m.sessions, func(o *session) bool { return o.at.Before(s.at) && isSameProcess(o, s) })
		if s.isFree() && first && slices.ContainsFunc(ps, func(p *process) bool {
			_, ok := m.startFit(p, s)
			return ok
		}) {
			ss = append(ss, s)
		}
	}
	return ss
}

// inOrder assigns one session to each process, if there are as many sessions as processes and
// their order permits it. If two processes start within a second of each other, or within two
// seconds on a busy machine, the later process may be the first to begin a session.
func (m *matcher) inOrder(ps []*process, ss []*session) bool {
	if len(ps) != len(ss) {
		return false
	}
	for i, p := range ps {
		if _, ok := m.startFit(p, ss[i]); !ok {
			return false
		}
	}
	apart := max(700*time.Millisecond, 2*firstEntryDelay(ss))
	for i, s := range ss {
		var hosts []*process
		for j, p := range ps {
			if _, ok := m.startFit(p, s); j == i || ok && p.Started.Sub(ps[i].Started).Abs() < apart {
				hosts = append(hosts, p)
			}
		}
		if len(hosts) == 1 {
			m.assign(s, ps[i], "it began when the process did")
		} else { // each of them is live, whichever process it belongs to
			s.hosts, m.has[ps[i]] = hosts, s
		}
	}
	return true
}

// nearest assigns to processes the sessions that began at the usual time after their
// start.
func (m *matcher) nearest(ps []*process, ss []*session) {
	type pair struct {
		p   *process
		s   *session
		off time.Duration
	}
	var pairs []pair
	for _, p := range ps {
		for _, s := range ss {
			if off, ok := m.startFit(p, s); ok {
				pairs = append(pairs, pair{p, s, off})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.off, b.off) })
	longest := firstEntryDelay(ss)
	for i, x := range pairs {
		if m.has[x.p] != nil || !x.s.isFree() {
			continue
		}
		hosts, candidates := []*process{x.p}, []*session{x.s}
		near := x.off + x.s.startTolerance(longest)
		for _, y := range pairs[i+1:] {
			if y.s == x.s && y.off < near && m.has[y.p] == nil {
				hosts = append(hosts, y.p)
			}
		}
		seen := map[*session]bool{x.s: true}
		for _, y := range pairs[i+1:] { // of several hosts those without x.s may have any session to whose beginning they are the nearest
			switch {
			case m.has[y.p] != nil || !y.s.isFree() || slices.Contains(candidates, y.s):
				continue
			case y.p == x.p && y.off < near, len(hosts) > 1 && !seen[y.s] && slices.Contains(hosts, y.p):
				candidates = append(candidates, y.s)
			}
			seen[y.s] = true
		}
		m.assignAmbiguous(hosts, candidates)
	}
}

// assignAmbiguous records that each of the processes may have each of the sessions.
func (m *matcher) assignAmbiguous(hosts []*process, candidates []*session) {
	switch {
	case len(hosts) == 1 && len(candidates) == 1:
		m.assign(candidates[0], hosts[0], "it began when the process did")
		return
	case len(hosts) >= len(candidates): // all sessions are live, whichever process each belongs to
		for _, s := range candidates {
			s.hosts = hosts
		}
	default:
		for _, s := range candidates {
			s.doubt = fmt.Sprintf("process %d began when this session and another one did", hosts[0].PID)
		}
	}
	for _, p := range hosts {
		m.has[p] = candidates[0]
	}
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

const threadsAfter = 500 * time.Millisecond // 350 ms were seen

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
		if len(hosts) == 1 && !others {
			chosen[hosts[0]] = s
		}
	}
	for p, s := range chosen {
		m.assign(s, p, "its threads began when the session did")
	}
}
