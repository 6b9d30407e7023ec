package opencode

import (
	"maps"
	"slices"
	"time"
)

const (
	// slack is the longest time by which a process's start can seem later than its own
	// log lines: the system keeps the start in ticks since a boot whose time is known
	// to the second.
	slack = time.Second
	// startSlack is the longest time by which the start of a process can be ahead of
	// the clock.
	startSlack = 200 * time.Millisecond
	// startLimit is the time after its start by which a process has logged something.
	startLimit = 30 * time.Second
	// lateLimit is the same time on a very busy machine, on which no match is certain.
	lateLimit = 5 * time.Minute
	// sameStart is the time within which processes that begin may log in any order.
	sameStart = 300 * time.Millisecond
	// settled is the time after its first line by which a run has shown its kind.
	settled = 10 * time.Second
)

// assignment records which process wrote which run of a shared log.
type assignment struct {
	runOf  map[*host]*run   // pairs that are certain
	may    map[*run][]*host // runs with several possible processes, or an uncertain one
	unsure map[*host]bool   // the hosts in may
}

// assign matches runs to processes: a log names no process, but each process begins its
// run soon after its own start, and processes of one kind do so in the order of their
// starts. Runs of ended processes are in between. A pair that is in every matching of
// the largest size is certain.
//
// can reports whether a run can belong to a process; fixed lists the known pairs.
func assign(hosts []*host, runs map[string]*run, fixed map[*host]*run, can func(*host, *run) bool) assignment {
	m := matching{hosts: hosts, edges: map[*host][]*run{}, chosen: map[*host]*run{}, found: map[*host]map[*run]bool{}}
	owned := map[*run]bool{}
	for _, r := range fixed {
		owned[r] = true
	}
	for _, h := range hosts {
		if r := fixed[h]; r != nil {
			m.edges[h] = []*run{r}
		} else {
			m.edges[h] = sorted(runs, func(r *run) bool { return !owned[r] && can(h, r) })
		}
	}
	a := assignment{runOf: map[*host]*run{}, may: map[*run][]*host{}, unsure: map[*host]bool{}}
	for _, group := range m.groups() {
		m.solve(group)
	}
	taken := map[*run]bool{}
	for _, h := range hosts {
		if r := only(m.found[h]); r != nil {
			a.runOf[h], taken[r] = r, true
		}
	}
	for _, h := range hosts {
		if a.runOf[h] != nil {
			continue
		}
		may := m.edges[h]
		if len(may) == 0 && fixed[h] == nil {
			// A process without a run near its start may have begun a later run than usual.
			may = sorted(runs, func(r *run) bool { return h.canHaveBegun(r, lateLimit) && h.fitsRun(r, nil) })
		}
		for _, r := range may {
			if !taken[r] && !owned[r] {
				a.may[r] = append(a.may[r], h)
				a.unsure[h] = true
			}
		}
	}
	return a
}

// sorted returns the runs that are wanted, by the time of their first line.
func sorted(runs map[string]*run, wanted func(*run) bool) []*run {
	var out []*run
	for _, r := range runs {
		if wanted(r) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *run) int { return a.first.Compare(b.first) })
	return out
}

// only returns the run of a set with exactly one run, and nil for every other set.
func only(set map[*run]bool) *run {
	if len(set) != 1 {
		return nil
	}
	for r := range set {
		return r
	}
	return nil
}

// canBe reports whether a run can belong to a process.
func (h *host) canBe(r *run, prompts map[string]string) bool {
	return h.canHaveBegun(r, startLimit) && h.fitsRun(r, prompts)
}

// canHaveBegun reports whether a run began within a time of the process's start.
func (h *host) canHaveBegun(r *run, within time.Duration) bool {
	return !r.first.Add(startSlack).Before(h.Started) && !r.first.After(h.Started.Add(within))
}

// fitsRun reports whether the lines of a run fit the role and the folder of a process.
func (h *host) fitsRun(r *run, prompts map[string]string) bool {
	isNew := r.last.Sub(r.first) < settled
	switch h.role {
	case server:
		return true
	case terminal:
		if r.connected && !h.listen {
			return false
		}
	case oneShot:
		if !r.connected && !isNew {
			return false
		}
		if !h.ranIn(r, prompts, isNew) {
			return false
		}
	}
	return len(r.folders) == 0 || h.cwd == "" || slices.ContainsFunc(slices.Collect(maps.Keys(r.folders)), h.mayHaveBegunIn)
}

// ranIn compares the arguments of `opencode run` with the sessions of a run.
func (h *host) ranIn(r *run, prompts map[string]string, isNew bool) bool {
	if h.resume != "" && !h.fork {
		_, named := r.sessions[h.resume]
		return named || isNew && len(r.sessions) == 0
	}
	if h.prompt == "" || len(r.sessions) == 0 || h.continues() {
		return true
	}
	for id := range r.sessions {
		if p, known := prompts[id]; !known || p == "" || h.mayHavePrompt(p) {
			return true
		}
	}
	return false
}

// matching searches the ways to assign runs to processes.
type matching struct {
	hosts  []*host // by start
	edges  map[*host][]*run
	chosen map[*host]*run
	found  map[*host]map[*run]bool // the runs of each host in the largest matchings; nil: no run
	best   int
	steps  int
}

// groups splits the processes into groups that have possible runs in common.
func (m *matching) groups() [][]*host {
	var groups [][]*host
	grouped := map[*host]bool{}
	for _, h := range m.hosts {
		if grouped[h] {
			continue
		}
		group := []*host{h}
		grouped[h] = true
		for i := 0; i < len(group); i++ {
			for _, o := range m.hosts {
				if !grouped[o] && slices.ContainsFunc(m.edges[o], func(r *run) bool { return slices.Contains(m.edges[group[i]], r) }) {
					grouped[o] = true
					group = append(group, o)
				}
			}
		}
		slices.SortFunc(group, func(a, b *host) int { return a.Started.Compare(b.Started) })
		groups = append(groups, group)
	}
	return groups
}

const maxSteps = 2_000

func (m *matching) solve(group []*host) {
	m.best, m.steps = -1, 0
	clear(m.chosen)
	m.try(group, 0, 0)
	if m.steps >= maxSteps {
		for _, h := range group {
			m.found[h] = map[*run]bool{nil: true}
		}
	}
}

// try extends the matching with the process at index i.
func (m *matching) try(group []*host, i, size int) {
	if m.steps++; m.steps >= maxSteps || size+len(group)-i < m.best {
		return
	}
	if i == len(group) {
		if size > m.best {
			m.best = size
			for _, h := range group {
				m.found[h] = map[*run]bool{}
			}
		}
		for _, h := range group {
			m.found[h][m.chosen[h]] = true
		}
		return
	}
	h := group[i]
	for _, r := range m.edges[h] {
		if m.fits(group[:i], h, r) {
			m.chosen[h] = r
			m.try(group, i+1, size+1)
		}
	}
	delete(m.chosen, h)
	m.try(group, i+1, size)
}

// fits reports whether a run is free, and keeps the order of the chosen runs.
func (m *matching) fits(before []*host, h *host, r *run) bool {
	for _, o := range before {
		c := m.chosen[o]
		if c == nil {
			continue
		}
		inOrder := o.role != h.role || h.Started.Sub(o.Started) < sameStart || !r.first.Before(c.first)
		if c == r || !inOrder {
			return false
		}
	}
	return true
}
