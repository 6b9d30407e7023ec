package app

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// All, as Config.Since, asks for stopped sessions of any age.
const All = time.Duration(math.MaxInt64)

// ExitWatcher watches for the end of processes; *proc.Watcher is one. Watch returns
// proc.ErrGone when the process identified by id has ended already. Otherwise it calls
// exited exactly once, when the process ends, unless cancel is called before.
type ExitWatcher interface {
	Watch(id proc.Identity, exited func()) (cancel func(), err error)
}

// Config contains the parts and options of a Core.
type Config struct {
	Adapters []adapters.Adapter
	// Table is the process table of this machine; nil: every process that an
	// adapter names counts as alive.
	Table proc.Lister
	Watch ExitWatcher // nil: the end of a process is noticed on refresh
	// Limit is the time that an adapter may take for one answer; 0: 5 s.
	Limit time.Duration
	// Since is the age up to which stopped sessions are shown. 0: only those that end while the core runs. All: all.
	Since time.Duration
	// Totals asks for exact tokens; see adapters.Query.
	Totals bool
	// Usage, with Totals, asks for what was used when; see adapters.Query.
	Usage bool
	// Account returns the name of a home of an agent; empty: it needs none. several reports that sessions of the agent are in more
	// than one home. nil: no home has a name.
	Account func(agent adapters.Name, home string, several bool) string
	// Launches adds to the answers what Rollcall itself launched; nil: nothing.
	Launches Launches
	// StalledAfter returns the time without a sign of life after which a working session has Quiet; nil, or 0: none has.
	StalledAfter func() time.Duration
	// Acting is called with the id of a session right before the user ends it, or its turn, by this core; nil: nothing is called.
	Acting func(session string)
	// Marks provides the user's names for sessions; nil: there are none.
	Marks Marks
	// Machines performs actions on sessions of other machines. If it is nil, such sessions can only be shown.
	Machines Machines
	Log      *slog.Logger // nil: discard
}

// Launches provides the records of Rollcall's own launches to a core.
type Launches interface {
	// Complete takes the sessions that an agent listed. It returns a session for each launch in Rollcall's own records that the agent does not list, or not yet; a
	// launch that is over is returned as stopped. It also returns a function that returns the launch of a session, or nil. Any goroutine may call it. It must
	// return quickly.
	Complete(agent adapters.Name, listed []adapters.Session) (more []adapters.Session, of func(*adapters.Session) *Launch)
	// Output returns the last n bytes of what a launch printed, by the launch's id.
	Output(id string, n int64) (string, error)
}

// Conversants is implemented by Launches that hold the input of sessions.
type Conversants interface {
	// Conversant returns the means to answer and prompt a session; nil if Rollcall does not hold its input.
	Conversant(a adapters.Adapter, s *Session) adapters.Conversant
}

// TurnTeller is implemented by a Conversant that reads what a process prints of its turns.
type TurnTeller interface {
	// Turn reports whether a turn is open, and else how the last one ended. at is when the process printed something last. known is false where it does not
	// print that.
	Turn(ctx context.Context) (open bool, ended adapters.Outcome, at time.Time, known bool)
}

// keepEnded is the time for which a session that ended while the core was running stays listed
// although Config.Since would leave it out.
const keepEnded = 24 * time.Hour

// Core keeps the snapshot of all sessions. Its methods are safe for concurrent use.
type Core struct {
	cfg   Config
	began time.Time
	clock func() (wall time.Time, running time.Duration) // see clocks
	// onBattery reports whether the machine runs on its battery.
	onBattery func() bool
	sources   []*source

	mu         sync.Mutex
	last       *Snapshot
	generation uint64          // number of changes of what a snapshot contains; last may have fewer
	known      []Session       // of this machine, also those that are not shown
	own        []Session       // the sessions of known that are shown; shared with the last snapshot
	hidden     []Session       // the sessions that the settings leave out, of all machines
	leftOut    []adapters.Name // the agents that the settings leave out
	headless   Headless
	machines   machineRolls
	joined     func() []Session // returns own and the sessions of machines as one list
	listeners  map[*Events]struct{}
	readers    map[Wakeup]struct{}
	troubles   []string
	running    bool
	wake       Wakeup                                   // there is work for Run
	peeks      map[SessionKey]*call[[]adapters.Message] // calls that have not returned after their limit
}

// New returns a Core. It asks no adapter yet.
func New(cfg Config) *Core {
	if cfg.Limit <= 0 {
		cfg.Limit = defaultLimit
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	c := &Core{
		cfg:       cfg,
		began:     time.Now(),
		clock:     clocks(),
		onBattery: onBattery,
		listeners: map[*Events]struct{}{},
		readers:   map[Wakeup]struct{}{},
		wake:      NewWakeup(),
		peeks:     map[SessionKey]*call[[]adapters.Message]{},
	}
	for _, a := range cfg.Adapters {
		c.sources = append(c.sources, newSource(a))
	}
	return c
}

// Snapshot returns the newest snapshot; the events that led to it are queued in every subscription. It never waits for an adapter, but
// may merge the lists of the last answers. It is never nil; before the first answer its adapters are Pending.
func (c *Core) Snapshot() *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && c.last.Generation == c.generation {
		return c.last
	}
	c.mergeLocked()
	snap := &Snapshot{At: time.Now(), Generation: c.generation, Troubles: c.troubles, Own: c.own, Headless: c.headless, joined: c.joined, Adapters: c.healthLocked()}
	snap.Refreshing = slices.ContainsFunc(snap.Adapters, func(h Health) bool { return h.Asking })
	c.machines.addTo(snap)
	snap.LeftOut.Sessions = c.hidden
	snap.divideHealth(c.leftOut)
	c.last = snap
	return snap
}

// Refresh asks every adapter, each in its own goroutine under its own limit, and
// returns once each has answered or failed, or ctx is done. It publishes each answer
// as it comes. An adapter that is being asked already is not asked twice: Refresh waits
// for the answer to that question.
func (c *Core) Refresh(ctx context.Context) *Snapshot { return c.refresh(ctx, false) }

// refresh does what Refresh does. With fresh it does not wait for the answer to a
// question that began before the call, but asks again.
func (c *Core) refresh(ctx context.Context, fresh bool) *Snapshot {
	flights := make([]*flight, len(c.sources))
	for i, s := range c.sources {
		flights[i] = c.join(s, fresh)
	}
	c.publish()
	for _, f := range flights {
		c.await(ctx, f)
	}
	return c.Snapshot()
}

// RefreshOne asks one adapter, with a question that begins after the call; with
// ids only about these sessions. It returns once the adapter has answered or failed, or
// ctx is done. It ignores an unknown name.
func (c *Core) RefreshOne(ctx context.Context, name adapters.Name, ids ...string) *Snapshot {
	switch s := c.source(name); {
	case s == nil:
	case len(ids) == 0:
		c.await(ctx, c.join(s, true))
	default:
		c.ask(ctx, s, question{ids: ids, limit: c.cfg.Limit})
	}
	return c.Snapshot()
}

// source returns the source of the adapter with this name; nil if there is none.
func (c *Core) source(name adapters.Name) *source {
	for _, s := range c.sources {
		if s.adapter.Name() == name {
			return s
		}
	}
	return nil
}

// Adapter returns the adapter of an agent; nil if the core has none.
func (c *Core) Adapter(name adapters.Name) adapters.Adapter {
	if s := c.source(name); s != nil {
		return s.adapter
	}
	return nil
}

// Conversant returns the means to answer and prompt a session that Rollcall launched with its input held open; nil for every other session.
func (c *Core) Conversant(s *Session) adapters.Conversant {
	own, ok := c.cfg.Launches.(Conversants)
	if !ok || s.Launch == nil || s.Launch.Ended {
		return nil
	}
	return own.Conversant(c.Adapter(s.Agent), s)
}

// flight is one question to one adapter for all sessions, shared by all that wait for
// it. It is cancelled when the last of them stops waiting.
type flight struct {
	done     chan struct{}
	cancel   context.CancelFunc
	waiting  int  // guarded by Core.mu
	finished bool // guarded by Core.mu: the question has ended
}

// join joins the question under way. It begins a new one if there is none, or if fresh
// is set.
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
		for ctx.Err() == nil && !c.ask(ctx, s, question{limit: c.cfg.Limit, flight: f}) { // interrupted: it is asked again
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if !f.finished { // cancelled: there is no result
			c.finishFlightLocked(s, f)
			c.publishLocked()
		}
	}()
	return f
}

func (c *Core) finishFlightLocked(s *source, f *flight) {
	f.finished = true
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

// publish tells the subscribers that there is a new snapshot.
func (c *Core) publish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.publishLocked()
}

func (c *Core) publishLocked() {
	c.generation++
	for r := range c.readers {
		r.Set()
	}
}

// health returns how the adapters answered last.
func (c *Core) health() []Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.healthLocked()
}

func (c *Core) healthLocked() []Health {
	out := make([]Health, 0, len(c.sources))
	for _, s := range c.sources {
		h := s.health
		if h.isUnseen() {
			continue
		}
		h.Problems = slices.Concat(s.health.Problems, s.limits)
		h.Asking = s.asking > 0
		out = append(out, h)
	}
	return out
}

// mergeLocked merges the sessions of the sources, if an answer has come since it last did.
func (c *Core) mergeLocked() {
	if !slices.ContainsFunc(c.sources, func(s *source) bool { return s.changed }) {
		return
	}
	lists := make([][]Session, len(c.sources))
	for i, s := range c.sources {
		lists[i], s.changed = s.public, false
	}
	c.known = c.nameAccounts(merge(lists))
	c.divideLocked()
}

// ShowTroubles sets Snapshot.Troubles of the next snapshots. The caller must not change
// the list afterwards.
func (c *Core) ShowTroubles(list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.troubles = list
	c.publishLocked()
}

func (c *Core) deliverLocked(evs []Event) {
	evs = c.shownEvents(evs)
	for e := range c.listeners {
		e.put(evs)
	}
}

// Subscribe calls f for each new snapshot, in order, on a separate goroutine. While f runs, newer snapshots replace
// each other: the next call gets the newest. cancel does not wait for a call that has begun; no other call follows
// it.
func (c *Core) Subscribe(f func(*Snapshot)) (cancel func()) {
	news := NewWakeup()
	ctx, stop := context.WithCancel(context.Background())
	c.mu.Lock()
	c.readers[news] = struct{}{}
	seen := c.generation
	c.mu.Unlock()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-news:
			}
			if snap := c.Snapshot(); ctx.Err() == nil && snap.Generation > seen {
				seen = snap.Generation
				f(snap)
			}
		}
	}()
	return func() {
		stop()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.readers, news)
	}
}
