package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app/places"
)

const (
	// debounce is the time for which a source must be without changes before it is refreshed. maxDebounce is the longest time
	// by which further changes can delay the refresh.
	debounce    = 50 * time.Millisecond
	maxDebounce = 500 * time.Millisecond
	// recheckAfter is the time after a change at which a source with a working session is asked again: not everything
	// that follows a change is written to a watched file (an approval that only Codex's daemon knows of, the child
	// process of a tool). On a busy machine it may follow
	// later, so while the session works on and nothing changes, the source is asked maxRechecks times, each after
	// twice the pause before.
	recheckAfter = 1500 * time.Millisecond
	maxRechecks  = 4
	// pauseFactor limits the processor time that changes can cost: after an answer that
	// took t, changes wait for pauseFactor × t, at most maxPause, so that a busy agent
	// never costs more than a tenth of a core. Exits never wait.
	pauseFactor = 9
	maxPause    = 2 * time.Second
	// A source that failed is asked again after retryMin, and then after twice the time before, up to retryMax: the cause may
	// have been removed although no change was noticed.
	retryMin = 5 * time.Second
	retryMax = 2 * time.Minute
)

// ErrRunning reports that the core runs already.
var ErrRunning = errors.New("the core is running already")

// Run asks all adapters, and then keeps the snapshot current until ctx is done. It refreshes one adapter after the end of a
// session's process, after a change in a folder that the adapter named (adapters.Watcher), when a place appears that the
// adapter found missing, and when the agent reports a change itself (adapters.Pusher). It refreshes all after the machine
// was suspended and after events were lost.
//
// For what no event reports, Run polls every 2 s, 10 s on battery: for new processes (adapters.ProcessOwner), for shown
// processes that were suspended, for watched folders that were replaced, and for places that an adapter could not read.
// While nothing changes, Run does nothing else.
//
// Run returns nil when ctx is done, ErrRunning when the core runs already.
func (c *Core) Run(ctx context.Context) error {
	if !c.start() {
		return ErrRunning
	}
	r := newRunner(c)
	defer r.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.ctx = ctx
	r.startFolderWatcher()
	r.listen()
	r.spawn(r.firstRefresh)
	for r.step() {
	}
	return nil
}

// step handles one event. It returns false when the runner's context is done.
func (r *runner) step() bool {
	select {
	case <-r.ctx.Done():
		return false
	case <-r.core.wake:
		r.handleRequests()
	case s := <-r.due:
		r.refresh(s)
	case s := <-r.done:
		r.refreshed(s)
	case s := <-r.first:
		if !r.scheduleRetry(s) {
			r.scheduleAskAgain(s)
		}
	case p := <-r.foundPlaces:
		r.watchPlaces(p)
	case <-r.poll.timer.C:
		r.startPoll()
	case f := <-r.poll.results:
		r.handlePoll(f)
	case sources := <-r.changed:
		for _, s := range sources {
			r.markChanged(s)
		}
	case l := <-r.lost:
		r.eventsLost(l)
	}
	return true
}

// firstRefresh asks every adapter once, and then starts to add totals. It does not use the answer to a question that began
// before Run, since an answer names the folders to watch only while the core is running.
func (r *runner) firstRefresh() {
	c := r.core
	c.refresh(r.ctx, true)
	for _, s := range c.sources {
		send(r.ctx, r.first, s)
	}
	if c.cfg.Totals {
		for _, s := range c.sources {
			r.spawn(func() { c.addTotals(r.ctx, s) })
		}
	}
}

// send sends v to ch, unless ctx is done first.
func send[T any](ctx context.Context, ch chan<- T, v T) {
	select {
	case ch <- v:
	case <-ctx.Done():
	}
}

// start marks the core as running. It returns false if the core runs already.
func (c *Core) start() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return false
	}
	c.running = true
	return true
}

// runner is one call of Run. Its fields and methods belong to Run's goroutine.
type runner struct {
	core        *Core
	ctx         context.Context
	folders     *places.Folders[*source]
	poll        *poller
	pending     map[*source]*pendingChanges
	due         chan *source
	done        chan *source
	first       chan *source // sources that were asked for the first time
	changed     chan []*source
	lost        chan lostEvents
	noWatcher   bool // folders can't be watched
	foundPlaces chan foundPlaces
	// findingPlaces has the sources for which findPlaces is running, with the places that the source named meanwhile, or nil.
	findingPlaces map[*source]*watchList
	group         sync.WaitGroup
}

// pendingChanges contains when a source is to be refreshed.
type pendingChanges struct {
	first, last time.Time // times of the changes since the last refresh; zero: none
	timer       *time.Timer
	at          time.Time     // for which the timer is set
	rechecking  bool          // the timer is for a recheck or a retry
	running     bool          // a refresh is running
	rechecks    int           // number of rechecks since the last change
	notBefore   time.Time     // no refresh before this
	retry       time.Duration // the pause before the next try after a failure; 0: no failure
}

func newRunner(c *Core) *runner {
	return &runner{
		core: c, folders: &places.Folders[*source]{}, pending: map[*source]*pendingChanges{}, poll: newPoller(c),
		due: make(chan *source), done: make(chan *source), first: make(chan *source),
		changed: make(chan []*source), lost: make(chan lostEvents),
		foundPlaces: make(chan foundPlaces), findingPlaces: map[*source]*watchList{},
	}
}

func (r *runner) spawn(f func()) { r.group.Go(f) }

// stop ends everything that Run started. Its context is done.
func (r *runner) stop() {
	r.core.mu.Lock()
	r.core.running = false
	for _, s := range r.core.sources {
		s.refreshRequested = false
		clear(s.agentProcesses)
	}
	r.core.mu.Unlock()
	r.poll.timer.Stop()
	for _, b := range r.pending {
		if b.timer != nil {
			b.timer.Stop()
		}
	}
	r.group.Wait()
	for _, s := range r.core.sources {
		r.core.cancelWatches(s, nil)
	}
	r.folders.Close()
}

// handleRequests does what other goroutines requested of Run.
func (r *runner) handleRequests() {
	c := r.core
	for _, s := range c.sources {
		c.mu.Lock()
		exited := s.exited
		requested := s.refreshRequested
		found := s.places
		s.exited = false
		s.refreshRequested = false
		s.places = nil
		c.mu.Unlock()
		if exited {
			r.spawn(func() {
				c.ask(r.ctx, s, question{exit: true, limit: exitLimit, rough: true})
				c.requestRefresh(s) // the end may have changed more than this session
			})
		}
		if requested {
			r.markChanged(s)
		}
		if found != nil {
			r.findPlaces(s, found)
		}
	}
}

// markChanged records a change of a source and schedules a refresh.
func (r *runner) markChanged(s *source) {
	b := r.pendingOf(s)
	now := time.Now()
	if b.first.IsZero() {
		b.first = now
	}
	b.last = now
	b.rechecking = false
	b.rechecks = 0
	if !b.running {
		r.setTimer(s, b, b.due())
	}
}

// pendingOf returns the pending changes of a source.
func (r *runner) pendingOf(s *source) *pendingChanges {
	b := r.pending[s]
	if b == nil {
		b = &pendingChanges{}
		r.pending[s] = b
	}
	return b
}

// due returns when the source is to be refreshed.
func (b *pendingChanges) due() time.Time {
	t := b.last.Add(debounce)
	if most := b.first.Add(maxDebounce); t.After(most) {
		t = most
	}
	if t.Before(b.notBefore) {
		t = b.notBefore
	}
	return t
}

// setTimer sets the time of the next refresh of a source.
func (r *runner) setTimer(s *source, b *pendingChanges, at time.Time) {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.at = at
	b.timer = time.AfterFunc(time.Until(at), func() { send(r.ctx, r.due, s) })
}

// refresh refreshes a source whose timer has expired.
func (r *runner) refresh(s *source) {
	b := r.pending[s]
	if b.running || b.first.IsZero() && !b.rechecking {
		return // the timer expired before it could be stopped
	}
	b.running = true
	b.first, b.rechecking = time.Time{}, false
	r.spawn(func() {
		r.core.await(r.ctx, r.core.join(s, true))
		send(r.ctx, r.done, s)
	})
}

// refreshed schedules the next refresh of a source after one has ended.
func (r *runner) refreshed(s *source) {
	b := r.pending[s]
	b.running = false
	now := time.Now()
	b.notBefore = now.Add(min(pauseFactor*r.core.lastElapsed(s), maxPause))
	if r.scheduleRetry(s) {
		return
	}
	switch {
	case !b.first.IsZero():
		r.setTimer(s, b, b.due())
	case b.rechecks < maxRechecks && r.core.hasWorkingSession(s):
		r.setTimer(s, b, now.Add(recheckAfter<<b.rechecks))
		b.rechecks++
		b.rechecking = true
	}
	r.scheduleAskAgain(s)
}

// scheduleAskAgain schedules a refresh of a source for the time at which its answer differs although nothing changes, unless one is scheduled before that.
func (r *runner) scheduleAskAgain(s *source) {
	b := r.pendingOf(s)
	at := r.core.askAgainAt(s)
	if at.IsZero() || b.running || !b.first.IsZero() || b.rechecking && at.After(b.at) {
		return
	}
	r.setTimer(s, b, later(at, b.notBefore))
	b.rechecking = true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// askAgainAt returns the earliest time that an adapter gave for that, or at which a snooze ends; zero: there is none. A time that has passed is that of an answer which took long.
func (c *Core) askAgainAt(s *source) (at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range s.public {
		x := &s.public[i]
		if t := x.AskAgain; !t.IsZero() && x.Live() && (at.IsZero() || t.Before(at)) {
			at = t
		}
		if t := x.SnoozedUntil; !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}

// scheduleRetry schedules a refresh of a source that failed, and reports whether it did. It schedules none if a change
// causes a refresh anyway.
func (r *runner) scheduleRetry(s *source) bool {
	b := r.pendingOf(s)
	b.retry = r.core.retryPause(s, b.retry)
	if b.retry == 0 || b.running || !b.first.IsZero() {
		return false
	}
	r.setTimer(s, b, time.Now().Add(b.retry))
	b.rechecking = true
	return true
}

// lastElapsed returns how long the last answer took, without the wait for its turn.
func (c *Core) lastElapsed(s *source) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.health.Elapsed
}

// retryPause returns the pause before a source that failed is asked again; 0 if it did
// not fail. before is the pause before the last try.
func (c *Core) retryPause(s *source, before time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.health.State != Failed {
		return 0
	}
	return min(max(2*before, retryMin), retryMax)
}

// hasWorkingSession reports whether a session of s is in a turn, or its process is suspended: then it may be in one.
func (c *Core) hasWorkingSession(s *source) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range s.public {
		switch x := &s.public[i]; {
		case x.Status == adapters.Working, x.Suspended:
			return true
		case x.Status == adapters.Stopped: // the list is sorted: no live session follows
			return false
		}
	}
	return false
}

// listen refreshes the adapters that can report changes themselves when they do.
func (r *runner) listen() {
	for _, s := range r.core.sources {
		if p, ok := s.adapter.(adapters.Pusher); ok {
			r.spawn(func() { r.core.push(r.ctx, p, s.adapter.Name(), func() { r.core.requestRefresh(s) }) })
		}
	}
}

// push lets an adapter report changes until ctx is done. If the adapter panics, push logs the panic, and the adapter reports
// no more changes.
func (c *Core) push(ctx context.Context, p adapters.Pusher, agent adapters.Name, changed func()) {
	_, err := guarded(func() (struct{}, error) { p.Push(ctx, changed); return struct{}{}, nil })
	if err != nil {
		c.cfg.Log.Error("an adapter no longer reports changes", "agent", agent, "error", err)
	}
}
