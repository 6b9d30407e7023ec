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
	runOf map[*host]*run   // pairs that are certain
	may   map[*run][]*host // runs with several possible processes, or an uncertain one
}

// assign matches runs to processes: a log names no process, but each process begins its run soon after its own start. Runs of
// ended processes are in between. As many processes as there are runs that they can have begun have
// these runs, which are then no other process's.
//
// can reports whether a run can belong to a process; fixed lists the known pairs.
func assign(hosts []*host, runs map[string]*run, fixed map[*host]*run, can func(*host, *run) bool) assignment {
	a := assignment{runOf: map[*host]*run{}, may: map[*run][]*host{}}
	writers := map[*run]int{}
	for _, r := range fixed {
		writers[r]++
	}
	for h, r := range fixed {
		if writers[r] == 1 { // else one has inherited the descriptor of the other
			a.runOf[h] = r
		}
	}
	for a.findOnly(hosts, runs, can) {
		continue
	}
	free := maps.Clone(runs)
	maps.DeleteFunc(free, func(_ string, r *run) bool { return a.isTaken(r) })
	for _, h := range hosts {
		if a.runOf[h] != nil {
			continue
		}
		may := sorted(free, func(r *run) bool { return can(h, r) })
		if len(may) == 0 {
			// A process without a run near its start may have begun a later run than usual.
			may = sorted(free, func(r *run) bool { return h.canHaveBegun(r, lateLimit) && h.fitsRun(r, nil) })
		}
		for _, r := range may {
			a.may[r] = append(a.may[r], h)
		}
	}
	return a
}

// findOnly adds the pairs of the processes that can have begun the same free runs, if there are as many, and reports whether there
// are such pairs. Processes of one kind begin their runs in the order of their starts.
func (a *assignment) findOnly(hosts []*host, runs map[string]*run, can func(*host, *run) bool) bool {
	groups := map[string][]*host{}
	begun := map[string][]*run{}
	for _, h := range hosts {
		may := sorted(runs, func(r *run) bool { return a.runOf[h] == nil && !a.isTaken(r) && can(h, r) })
		key := ""
		for _, r := range may {
			key += r.id + " "
		}
		groups[key] = append(groups[key], h)
		begun[key] = may
	}
	for _, key := range slices.SortedFunc(maps.Keys(groups), func(a, b string) int { return len(begun[a]) - len(begun[b]) }) {
		if len(groups[key]) == len(begun[key]) && isInOrder(groups[key]) {
			for i, h := range groups[key] {
				a.runOf[h] = begun[key][i]
			}
			return true
		}
	}
	return false
}

// isInOrder reports whether processes of one kind started one after the other.
func isInOrder(hosts []*host) bool {
	for i, h := range hosts[1:] {
		if h.role != hosts[i].role || h.Started.Sub(hosts[i].Started) < sameStart {
			return false
		}
	}
	return true
}

// isTaken reports whether a run is certainly that of a process.
func (a *assignment) isTaken(r *run) bool {
	return slices.Contains(slices.Collect(maps.Values(a.runOf)), r)
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
	return len(r.folders) == 0 || h.CWD == "" || slices.ContainsFunc(slices.Collect(maps.Keys(r.folders)), h.mayHaveBegunIn)
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
