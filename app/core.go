package app

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// All, as Config.Since, asks for stopped sessions of any age.
const All = time.Duration(math.MaxInt64)

// ExitWatcher reports the end of processes; *proc.Watcher is one. Watch returns
// proc.ErrGone when that very process is no longer there; else exited is called
// once, when it ends, unless cancel was called before.
type ExitWatcher interface {
	Watch(id proc.Identity, exited func()) (cancel func(), err error)
}

// Config is what a Core is made of.
type Config struct {
	Adapters []adapters.Adapter
	// Table is the process table of this machine; nil: every process that an
	// adapter names counts as alive.
	Table proc.Lister
	Watch ExitWatcher // nil: ends are noticed on refresh
	// Limit is how long an adapter may take for one answer; 0: 5 s.
	Limit time.Duration
	// Since is how far back stopped sessions are shown. 0: only those that end
	// while we look. All: all.
	Since time.Duration
	// Totals asks for exact tokens; see adapters.Query.
	Totals bool
	// Launches complete the answers with what Rollcall started; nil: nothing.
	Launches Launches
	Log      *slog.Logger // nil: discard
}

// Launches is what a core asks about Rollcall's own launches.
type Launches interface {
	// Complete is given the sessions that an agent listed. It returns those that
	// run by Rollcall's own records and that the agent does not list, or not yet,
	// and tells which launch a session came from. It is called on any goroutine,
	// and quick.
	Complete(agent adapters.Name, listed []adapters.Session) (more []adapters.Session, of func(*adapters.Session) *Launch)
}

const (
	defaultLimit = 5 * time.Second
	// exitLimit bounds the question after the end of a process: a notification
	// waits for it.
	exitLimit = time.Second
	// keepEnded is how long a session that ended while we looked stays listed,
	// where Config.Since wouldn't.
	keepEnded = 24 * time.Hour
)

// Core is the roll call. Its methods are safe for concurrent use.
type Core struct {
	cfg     Config
	began   time.Time
	sources []*source
	last    atomic.Pointer[Snapshot]
	peeks   peeks

	mu         sync.Mutex
	generation uint64
	sessions   []Session // of last, shared with it
	listeners  map[*Events]struct{}
	readers    map[*reader]struct{}
	running    bool
	exits      map[*source]bool // that lost a process, for Run to look into
	touched    map[*source]bool // that may have changed, likewise
	wake       chan struct{}    // holds a token while there is work for Run
}

// New makes a Core. It asks nobody anything yet.
func New(cfg Config) *Core {
	if cfg.Limit <= 0 {
		cfg.Limit = defaultLimit
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c := &Core{
		cfg:       cfg,
		began:     time.Now(),
		listeners: map[*Events]struct{}{},
		readers:   map[*reader]struct{}{},
		exits:     map[*source]bool{},
		touched:   map[*source]bool{},
		wake:      make(chan struct{}, 1),
	}
	for _, a := range cfg.Adapters {
		c.sources = append(c.sources, newSource(a))
	}
	c.publish(nil)
	return c
}

// Snapshot returns the last picture; never nil, without blocking. Before the
// first answer its adapters are Pending.
func (c *Core) Snapshot() *Snapshot { return c.last.Load() }

// Refresh asks every adapter, each in its own goroutine under its own limit, and
// returns once each has settled, or ctx is done. Each answer is published as it
// comes. An adapter that is being asked already is not asked twice: its answer
// under way counts.
func (c *Core) Refresh(ctx context.Context) *Snapshot {
	flights := make([]*flight, len(c.sources))
	for i, s := range c.sources {
		flights[i] = c.join(s, false)
	}
	c.publish(nil)
	for _, f := range flights {
		c.await(ctx, f)
	}
	return c.Snapshot()
}

// RefreshOne asks one adapter, with a question that begins after the call; with
// ids only about these sessions. It returns once the adapter has settled, or ctx
// is done. An unknown name changes nothing.
func (c *Core) RefreshOne(ctx context.Context, name adapters.Name, ids ...string) *Snapshot {
	for _, s := range c.sources {
		if s.adapter.Name() != name {
			continue
		}
		if len(ids) == 0 {
			c.await(ctx, c.join(s, true))
		} else {
			c.ask(ctx, s, question{ids: ids, limit: c.cfg.Limit})
		}
	}
	return c.Snapshot()
}

// flight is one question to one adapter for all sessions, with everybody who
// waits for it. The last one who leaves cancels it.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int  // guarded by Core.mu
	landed  bool // guarded by Core.mu: it is no longer under way
}

// join takes part in the question under way; if there is none, or fresh forbids
// an older one, it begins one.
func (c *Core) join(s *source, fresh bool) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := s.flight; f != nil && !fresh && f.waiting > 0 {
		f.waiting++
		return f
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &flight{done: make(chan struct{}), cancel: cancel, waiting: 1}
	s.flight = f
	s.asking++
	go func() {
		defer cancel()
		defer close(f.done)
		c.ask(ctx, s, question{limit: c.cfg.Limit, flight: f})
		c.mu.Lock()
		defer c.mu.Unlock()
		if !f.landed { // cancelled: nothing was learned
			c.landLocked(s, f)
			c.publishLocked()
		}
	}()
	return f
}

func (c *Core) landLocked(s *source, f *flight) {
	f.landed = true
	s.asking--
	if s.flight == f {
		s.flight = nil
	}
}

func (c *Core) await(ctx context.Context, f *flight) {
	select {
	case <-f.done:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
	}
}

// publish makes the next snapshot and delivers what happened on the way to it.
func (c *Core) publish(evs []Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.publishLocked()
	c.deliver(evs)
}

func (c *Core) publishLocked() {
	c.generation++
	snap := &Snapshot{At: time.Now(), Generation: c.generation}
	changed := c.last.Load() == nil
	for _, s := range c.sources {
		h := s.health
		h.Problems = append(h.Problems[:len(h.Problems):len(h.Problems)], s.limits...)
		h.Asking = s.asking > 0
		snap.Refreshing = snap.Refreshing || h.Asking
		snap.Adapters = append(snap.Adapters, h)
		changed = changed || s.changed
		s.changed = false
	}
	if changed {
		lists := make([][]Session, len(c.sources))
		for i, s := range c.sources {
			lists[i] = s.public
		}
		c.sessions = merge(lists)
	}
	snap.Sessions = c.sessions
	c.last.Store(snap)
	for r := range c.readers {
		r.poke()
	}
}

func (c *Core) deliver(evs []Event) {
	if len(evs) == 0 {
		return
	}
	for e := range c.listeners {
		e.put(evs)
	}
}

// reader is a subscriber to snapshots.
type reader struct{ signal chan struct{} }

func (r *reader) poke() {
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

// Subscribe calls f for each new snapshot, in order, on one goroutine of its
// own. While f runs, newer snapshots replace each other: the next call gets the
// newest. cancel does not wait for a call that has begun; no other follows it.
func (c *Core) Subscribe(f func(*Snapshot)) (cancel func()) {
	r := &reader{signal: make(chan struct{}, 1)}
	stop := make(chan struct{})
	c.mu.Lock()
	c.readers[r] = struct{}{}
	seen := c.generation
	c.mu.Unlock()
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-r.signal:
			}
			select {
			case <-stop: // both were ready
				return
			default:
			}
			if snap := c.Snapshot(); snap.Generation > seen {
				seen = snap.Generation
				f(snap)
			}
		}
	}()
	return sync.OnceFunc(func() {
		c.mu.Lock()
		delete(c.readers, r)
		c.mu.Unlock()
		close(stop)
	})
}
