package pistore

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// early is how much before its process a session can seem to have begun: the
// time of the boot is kept in seconds on some systems.
const early = 200 * time.Millisecond

// window is how long after its process's start a session of it begins. How long
// the first entry takes to follow tells how busy the machine was. 0.73.1 reads
// hundreds of files first, which took up to 4 s.
func (s *session) window() time.Duration {
	switch {
	case !s.system:
		return 15 * time.Second
	case s.second.Before(s.at): // a fork: the first entries are the parent's
		return 5 * time.Second
	}
	return min(max(3500*time.Millisecond, 8*s.second.Sub(s.at)), 20*time.Second)
}

// usual is how long it takes.
func (s *session) usual() time.Duration {
	if s.system {
		return 900 * time.Millisecond
	}
	return 1500 * time.Millisecond
}

// near is by how much less that differs than by chance. 1.5.2 takes 0.5 s to 1.8 s,
// and 3 s on a busy machine; 0.73.1 0.6 s when its files are in the system's
// cache, 4 s when not, 10 s on a busy machine.
func (s *session) near(busy time.Duration) time.Duration {
	if s.system {
		return max(700*time.Millisecond, 4*busy)
	}
	return max(3*time.Second, 8*busy)
}

// busy is the longest that the first entry of one of these took to follow.
func busy(ss []*session) (longest time.Duration) {
	for _, s := range ss {
		longest = max(longest, s.second.Sub(s.at))
	}
	return min(longest, 2*time.Second)
}

// fit is how far a session's beginning is off a process's start.
func fit(p *process, s *session) (off time.Duration, ok bool) {
	gap := s.at.Sub(p.Started)
	return (gap - s.usual()).Abs(), p.can(s) && gap >= -early && gap <= s.window()
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
		if ss := m.beginnings(ps); !m.inOrder(ps, ss) {
			m.nearest(ps, ss)
		}
	}
}

// beginnings are the sessions that one of the processes may have begun with.
func (m *matcher) beginnings(ps []*process) (ss []*session) {
	for _, s := range m.sessions {
		first := !slices.ContainsFunc(m.sessions, func(o *session) bool { return o.at.Before(s.at) && sameMaker(o, s) })
		if s.free() && first && slices.ContainsFunc(ps, func(p *process) bool {
			_, ok := fit(p, s)
			return ok && !m.anothers(s, p)
		}) {
			ss = append(ss, s)
		}
	}
	return ss
}

// inOrder gives each process one, if there are as many of both and their order
// allows it: of two that start within a second of each other, on a busy machine
// two, the later one may be the first to begin a session.
func (m *matcher) inOrder(ps []*process, ss []*session) bool {
	if len(ps) != len(ss) {
		return false
	}
	for i, p := range ps {
		if _, ok := fit(p, ss[i]); !ok {
			return false
		}
	}
	apart := max(700*time.Millisecond, 2*busy(ss))
	for i, s := range ss {
		var hosts []*process
		for j, p := range ps {
			if _, ok := fit(p, s); j == i || ok && p.Started.Sub(ps[i].Started).Abs() < apart {
				hosts = append(hosts, p)
			}
		}
		if len(hosts) == 1 {
			m.give(s, ps[i], "it began when the process did")
		} else { // each of them lives, whichever is whose
			s.hosts, m.has[ps[i]] = hosts, s
		}
	}
	return true
}

// nearest gives processes the sessions that began when they usually do.
func (m *matcher) nearest(ps []*process, ss []*session) {
	type pair struct {
		p   *process
		s   *session
		off time.Duration
	}
	var pairs []pair
	for _, p := range ps {
		for _, s := range ss {
			if off, ok := fit(p, s); ok && !m.anothers(s, p) {
				pairs = append(pairs, pair{p, s, off})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.off, b.off) })
	longest := busy(ss)
	for i, x := range pairs {
		if m.has[x.p] != nil || !x.s.free() {
			continue
		}
		hosts, twins := []*process{x.p}, []*session{x.s}
		near := x.s.near(longest)
		for _, y := range pairs[i+1:] {
			switch {
			case y.off-x.off >= near:
			case y.s == x.s && m.has[y.p] == nil:
				hosts = append(hosts, y.p)
			case y.p == x.p && y.s.free():
				twins = append(twins, y.s)
			}
		}
		m.settle(hosts, twins)
	}
}

// settle is for processes and sessions of which each may be each other's.
func (m *matcher) settle(hosts []*process, twins []*session) {
	switch {
	case len(hosts) == 1 && len(twins) == 1:
		m.give(twins[0], hosts[0], "it began when the process did")
		return
	case len(hosts) >= len(twins): // all of the sessions live, whichever is whose
		for _, s := range twins {
			s.hosts = hosts
		}
	default:
		for _, s := range twins {
			s.doubt = fmt.Sprintf("process %d began when this session and another one did", hosts[0].PID)
		}
	}
	for _, p := range hosts {
		m.has[p] = twins[0]
	}
}
