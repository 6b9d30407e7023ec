package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"rollcall/adapters"
)

const (
	// A burst of changes is over after quiet, and is looked at after burst even
	// if it isn't.
	quiet = 50 * time.Millisecond
	burst = 500 * time.Millisecond
	// echo is when a source with a working session is asked once more after a
	// change: not everything that follows a change is written to a file (an
	// approval that only Codex's daemon knows of, the child process of a tool).
	echo = 1500 * time.Millisecond
	// share bounds what changes can cost: after an answer that took t, changes
	// wait for share × t, so that a busy agent never costs more than a tenth of
	// a core. Exits never wait.
	share   = 9
	restMax = 2 * time.Second
	// A source that failed is asked again after retryMin, and then after twice the
	// time before, up to retryMax: what was in its way may have gone without a
	// change that is told.
	retryMin = 5 * time.Second
	retryMax = 2 * time.Minute
)

// ErrRunning says that the core runs already.
var ErrRunning = errors.New("the core is running already")

// Run asks all adapters, and then keeps the picture true until ctx is done: the
// end of a session's process, a change in a folder that an adapter named
// (adapters.Watcher), the appearance of a place that it looked for in vain and
// what an agent tells by itself (adapters.Pusher) each refresh just that adapter. While nothing changes it does nothing; its
// only timers run for at most a few seconds after a change. It returns nil when
// ctx is done, ErrRunning when it runs already.
func (c *Core) Run(ctx context.Context) error {
	if !c.start() {
		return ErrRunning
	}
	r := &runner{
		core:   c,
		bursts: map[*source]*changes{},
		due:    make(chan *source),
		done:   make(chan *source),
		first:  make(chan *source),
	}
	defer r.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.ctx = ctx
	r.watchFolders()
	r.listen()
	r.spawn(func() {
		c.Refresh(ctx)
		for _, s := range c.sources {
			select {
			case r.first <- s:
			case <-ctx.Done():
			}
		}
		if c.cfg.Totals {
			for _, s := range c.sources {
				r.spawn(func() { c.sum(ctx, s) })
			}
		}
	})
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.wake:
			r.work()
		case s := <-r.due:
			r.refresh(s)
		case s := <-r.done:
			r.refreshed(s)
		case s := <-r.first:
			r.again(s)
		case e, ok := <-r.folders.events():
			if ok {
				for _, s := range r.folders.touched(e) {
					r.touched(s, false)
				}
			}
		case err, ok := <-r.folders.errors():
			if ok {
				r.lost(err)
			}
		}
	}
}

func (c *Core) start() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return false
	}
	c.running = true
	return true
}

// runner is one Run.
type runner struct {
	core    *Core
	ctx     context.Context
	folders *folders
	bursts  map[*source]*changes
	due     chan *source
	done    chan *source
	first   chan *source // that was asked for the first time
	group   sync.WaitGroup
}

// changes are what is to be done about the changes of one source.
type changes struct {
	first, last time.Time // of the changes not yet looked at; zero: none
	timer       *time.Timer
	echoing     bool          // the timer is for the echo
	running     bool          // a refresh is under way
	wasEcho     bool          // and it is the echo
	rest        time.Time     // no refresh before this
	retry       time.Duration // before the next try of one that failed; 0: it didn't
}

func (r *runner) spawn(f func()) { r.group.Go(f) }

// stop ends everything that Run began. Its context is done.
func (r *runner) stop() {
	r.core.mu.Lock()
	r.core.running = false
	clear(r.core.touched)
	r.core.mu.Unlock()
	for _, b := range r.bursts {
		if b.timer != nil {
			b.timer.Stop()
		}
	}
	r.group.Wait()
	r.core.unwatch()
	r.folders.close()
}

// work does what the other goroutines left for Run.
func (r *runner) work() {
	c := r.core
	type news struct {
		source *source
		places *places
	}
	var exits, touched []*source
	var moved []news
	c.mu.Lock()
	for _, s := range c.sources {
		if c.exits[s] {
			exits = append(exits, s)
		}
		if c.touched[s] {
			touched = append(touched, s)
		}
		if s.places != nil {
			moved = append(moved, news{s, s.places})
			s.places = nil
		}
	}
	clear(c.exits)
	clear(c.touched)
	c.mu.Unlock()
	for _, s := range exits {
		r.spawn(func() {
			c.ask(r.ctx, s, question{exit: true, limit: exitLimit, rough: true})
			c.touch(s) // the end may have changed more than this session
		})
	}
	for _, s := range touched {
		r.touched(s, false)
	}
	for _, n := range moved {
		r.place(n.source, n.places)
	}
}

// place watches the folders of a source. What changed in a new one before it was
// watched is found by asking again.
func (r *runner) place(s *source, p *places) {
	if r.folders == nil {
		return // and its health says so
	}
	added, limits := r.folders.sync(s, p)
	r.limit(s, limits)
	if added {
		r.touched(s, false)
	}
}

// limit shows what can't be watched.
func (r *runner) limit(s *source, limits []string) {
	c := r.core
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(limits) == 0 && len(s.limits) == 0 {
		return
	}
	s.limits = limits
	c.publishLocked()
}

// touched notes a change, and sees to it that it is looked at.
func (r *runner) touched(s *source, isEcho bool) {
	b := r.burst(s)
	now := time.Now()
	if isEcho {
		r.arm(s, b, now.Add(echo))
		b.echoing = true
		return
	}
	if b.first.IsZero() {
		b.first = now
	}
	b.last, b.echoing = now, false
	if !b.running {
		r.arm(s, b, b.when())
	}
}

func (r *runner) burst(s *source) *changes {
	b := r.bursts[s]
	if b == nil {
		b = &changes{}
		r.bursts[s] = b
	}
	return b
}

// when the changes are to be looked at.
func (b *changes) when() time.Time {
	t := b.last.Add(quiet)
	if most := b.first.Add(burst); t.After(most) {
		t = most
	}
	if t.Before(b.rest) {
		t = b.rest
	}
	return t
}

func (r *runner) arm(s *source, b *changes, at time.Time) {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.timer = time.AfterFunc(time.Until(at), func() {
		select {
		case r.due <- s:
		case <-r.ctx.Done():
		}
	})
}

// refresh asks a source whose time has come.
func (r *runner) refresh(s *source) {
	b := r.bursts[s]
	if b.running || b.first.IsZero() && !b.echoing {
		return // a timer that was stopped too late
	}
	b.running, b.wasEcho = true, b.echoing
	b.first, b.echoing = time.Time{}, false
	r.spawn(func() {
		r.core.await(r.ctx, r.core.join(s, true))
		select {
		case r.done <- s:
		case <-r.ctx.Done():
		}
	})
}

func (r *runner) refreshed(s *source) {
	b := r.bursts[s]
	b.running = false
	now := time.Now()
	b.rest = now.Add(min(share*r.core.took(s), restMax))
	if r.again(s) {
		return
	}
	switch {
	case !b.first.IsZero():
		r.arm(s, b, b.when())
	case !b.wasEcho && r.core.works(s):
		r.touched(s, true)
	}
}

// again sees to it that a source that failed is asked again, unless a change
// does so anyway, and says whether it did.
func (r *runner) again(s *source) bool {
	b := r.burst(s)
	b.retry = r.core.pause(s, b.retry)
	if b.retry == 0 || b.running || !b.first.IsZero() {
		return false
	}
	r.arm(s, b, time.Now().Add(b.retry))
	b.echoing = true
	return true
}

// took is how long the last answer took, without the wait for its turn.
func (c *Core) took(s *source) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.health.Elapsed
}

// pause is how long a source that failed is left alone, after a pause of before.
func (c *Core) pause(s *source, before time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.health.State != Failed {
		return 0
	}
	return min(max(2*before, retryMin), retryMax)
}

// works says whether a session of s is in a turn.
func (c *Core) works(s *source) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range s.public {
		switch s.public[i].Status {
		case adapters.Working:
			return true
		case adapters.Idle, adapters.Stopped: // sorted: none follows
			return false
		}
	}
	return false
}

// listen lets the adapters that are told of changes tell them.
func (r *runner) listen() {
	for _, s := range r.core.sources {
		if p, ok := s.adapter.(adapters.Pusher); ok {
			r.spawn(func() { p.Push(r.ctx, func() { r.core.touch(s) }) })
		}
	}
}

// watchFolders makes the folder watcher, if an adapter wants one.
func (r *runner) watchFolders() {
	for _, s := range r.core.sources {
		if _, ok := s.adapter.(adapters.Watcher); ok {
			var err error
			if r.folders, err = newFolders(); err != nil {
				r.lost(err)
			}
			return
		}
	}
}

// lost means that changes went unnoticed, or will.
func (r *runner) lost(err error) {
	r.core.cfg.Log.Warn("changes of folders may go unnoticed", "error", err)
	for _, s := range r.core.sources {
		if _, ok := s.adapter.(adapters.Watcher); !ok {
			continue
		}
		if r.folders == nil {
			r.limit(s, []string{explainWatch("", err)})
		} else {
			r.touched(s, false)
		}
	}
}
