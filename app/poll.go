package app

import (
	"time"

	"rollcall/adapters"
	"rollcall/app/places"
	"rollcall/bounded"
	"rollcall/proc"
)

const (
	// pollInterval is the pause between two polls; pollIntervalOnBattery is the pause on
	// a machine that runs on its battery.
	pollInterval          = 2 * time.Second
	pollIntervalOnBattery = 10 * time.Second
	// maxAsks is how many times an adapter is refreshed for a process of its agent that has no session, or no longer has one.
	// An agent takes a moment to open its files, and its adapter to list it: it is asked soonAsks times at every poll, and then after pauses
	// that double, for its user takes a moment to type.
	maxAsks  = 14
	soonAsks = 10
	// The machine counts as having been suspended when the wall clock differs by clockJump from the time that passed,
	// or when a poll starts maxDelay later than planned.
	clockJump = 5 * time.Second
	maxDelay  = 15 * time.Second
)

// poller notices what no event reports: agents that start where no folder is watched, folders that were replaced, places
// that can be read again, processes that were suspended, a machine that was suspended. It belongs to Run's goroutine; its
// polls run on another goroutine, one at a time. It does not wait for calls into a file system that hangs: see
// bounded.Calls.
type poller struct {
	scanner *proc.Scanner // nil: there is no process table
	battery *battery
	timer   *time.Timer
	results chan pollResult
	first   bool // no poll has ended yet
	failed  bool // the last poll could not read the process table
	claims  map[agentProcess]*unclaimed
	// missing are the places that a source looked for and that do not exist.
	missing map[*source][]string
	// unreadable are the places that a source could not read.
	unreadable places.Unreadable[*source]
	// unjudged are the processes for which an adapter has not yet answered whether they are its agent's.
	unjudged map[proc.Identity]proc.Process
	cwds     map[proc.Identity]string // see pollRun
	calls    *bounded.Calls

	clock func() (wall time.Time, running time.Duration)
	wall  time.Time
	ran   time.Duration
	pause time.Duration
}

// agentProcess is a process of an adapter's agent.
type agentProcess struct {
	source  *source
	process proc.Identity
}

// unclaimed counts the refreshes of an adapter because of a process without a session.
type unclaimed struct {
	asked int
	next  time.Time
	had   bool // the process had a session at the last poll
}

func newPoller(c *Core) *poller {
	n := &poller{
		battery: &battery{ask: func() bool { return c.onBattery() }}, timer: time.NewTimer(0), results: make(chan pollResult), first: true,
		claims: map[agentProcess]*unclaimed{}, missing: map[*source][]string{}, clock: c.clock, pause: pollInterval, calls: &bounded.Calls{}, cwds: map[proc.Identity]string{},
	}
	if c.cfg.Table != nil {
		n.scanner = proc.NewScanner(c.cfg.Table)
	}
	n.wall, n.ran = n.clock()
	return n
}

// clocks returns a function that returns the wall clock and how long the machine has been
// running, without the time that it was suspended (Linux, macOS).
func clocks() func() (time.Time, time.Duration) {
	began := time.Now()
	return func() (time.Time, time.Duration) {
		now := time.Now()
		return now.Round(0), now.Sub(began)
	}
}

// startPoll starts a poll on another goroutine.
func (r *runner) startPoll() {
	n := r.poll
	job := pollRun{scanner: n.scanner, table: r.core.cfg.Table, cwds: n.cwds, battery: n.battery, sources: r.core.sources, folders: r.folders, log: r.core.cfg.Log,
		missing: n.missing, processes: r.core.shownProcesses(),
		unreadable: r.core.unreadablePlaces(n.unreadable), unjudged: n.unjudged, calls: n.calls}
	n.missing = map[*source][]string{} // the map belongs to the poll until it ends
	go func() {
		send(r.ctx, n.results, job.run(r.ctx))
	}()
}

// handlePoll refreshes the sources that may have changed by the result of a poll, and
// schedules the next poll.
func (r *runner) handlePoll(f pollResult) {
	n := r.poll
	if r.wasSuspended() {
		for _, s := range r.core.sources {
			r.markChanged(s)
		}
	}
	for s, missing := range f.missing {
		if _, newer := n.missing[s]; !newer {
			n.missing[s] = missing
		}
	}
	for s := range f.changed {
		r.markChanged(s)
	}
	if f.err != nil && !n.failed {
		r.core.cfg.Log.Warn("new processes may go unnoticed", "error", f.err)
	}
	n.failed = f.err != nil
	r.trackProcesses(f)
	n.first = false
	n.unreadable, n.unjudged = f.unreadable, f.unjudged
	n.pause = pollInterval
	if f.onBattery && len(f.unreadable) == 0 { // a place that can be read again is noticed soon
		n.pause = pollIntervalOnBattery
	}
	n.timer.Reset(n.pause)
}

// wasSuspended reports whether the machine, or Rollcall, was suspended since the last
// poll.
func (r *runner) wasSuspended() bool {
	n := r.poll
	wall, ran := n.clock()
	passed := ran - n.ran
	jump := wall.Sub(n.wall) - passed
	n.wall, n.ran = wall, ran
	return !n.first && (jump.Abs() > clockJump || passed > n.pause+maxDelay)
}

// trackProcesses keeps track of the agents' processes, and refreshes the adapters of
// those that are new, that ended, or that have no session.
func (r *runner) trackProcesses(f pollResult) {
	n, now := r.poll, time.Now()
	for _, id := range f.gone {
		for _, s := range r.core.sources {
			k := agentProcess{s, id}
			if n.claims[k] == nil {
				continue
			}
			delete(n.claims, k)
			if !r.core.unwatchAgentProcess(s, id) {
				r.markChanged(s)
			}
		}
	}
	for k, mine := range f.owners {
		switch known := n.claims[k] != nil; {
		case known && !mine: // a process forked by the agent that has become another program
			delete(n.claims, k)
			r.core.unwatchAgentProcess(k.source, k.process)
		case mine && !known:
			n.claims[k] = &unclaimed{next: now.Add(pollInterval)}
			r.core.watchAgentProcess(k.source, k.process)
			if !n.first { // during the first poll, the first question is still being answered
				r.markChanged(k.source)
			}
		}
	}
	for k, c := range n.claims {
		switch claimed := r.core.claimed(k.source, k.process); {
		case claimed:
			*c = unclaimed{had: true}
			continue
		case c.had: // its session is no longer listed, and the cause may end unnoticed
			*c = unclaimed{next: now}
		}
		if c.asked == maxAsks || now.Before(c.next) {
			continue
		}
		c.asked++
		c.next = now.Add(pollInterval << max(0, c.asked-soonAsks))
		r.markChanged(k.source)
	}
}

// watchAgentProcess makes watchProcesses watch an agent's process.
func (c *Core) watchAgentProcess(s *source, id proc.Identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.agentProcesses[id] = true
}

// unwatchAgentProcess undoes watchAgentProcess, and reports whether the exit watcher has
// reported the end of the process already.
func (c *Core) unwatchAgentProcess(s *source, id proc.Identity) (exited bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(s.agentProcesses, id)
	w := s.watches[id]
	return w != nil && w.exited
}

// claimed reports whether a session is shown in a process.
func (c *Core) claimed(s *source, id proc.Identity) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range s.public {
		x := &s.public[i]
		if x.Status == adapters.Stopped { // the list is sorted: no live session follows
			return false
		}
		if x.Process == id && !x.IsProcess() {
			return true
		}
	}
	return false
}

// shownProcess is the process of shown sessions.
type shownProcess struct {
	source    *source
	id        proc.Identity
	suspended bool // whether the sessions are shown as suspended
}

// shownProcesses lists the processes of the live sessions.
func (c *Core) shownProcesses() []shownProcess {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []shownProcess
	for _, s := range c.sources {
		had := map[proc.Identity]bool{}
		for i := range s.public {
			x := &s.public[i]
			if x.Status == adapters.Stopped {
				break
			}
			if hasProcess(x) && !had[x.Process] {
				had[x.Process] = true
				out = append(out, shownProcess{s, x.Process, x.Suspended})
			}
		}
	}
	return out
}
