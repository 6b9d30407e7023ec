package launch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/proc"
)

// Keeper follows the launches while the tray runs: it learns their sessions,
// moves records and locks from wrappers to agents, ends them when the agent's own
// process ends, runs their hooks and removes what is over. While nothing happens
// it does nothing; its only timer is for the next record that is due.
type Keeper struct {
	launches *Launches
	core     *app.Core
	watch    app.ExitWatcher
	log      *slog.Logger

	wake    chan struct{}
	hooking sync.WaitGroup
	asking  sync.WaitGroup
	known   map[string]place // by launch, at the last look

	mu      sync.Mutex
	watched map[string]watched // by launch
	ended   map[string]proc.Identity
}

// place is where a launch was at the last look.
type place struct {
	process proc.Identity
	session string
}

type watched struct {
	process proc.Identity
	cancel  func()
}

// NewKeeper makes a keeper; watch and log may not be nil.
func NewKeeper(l *Launches, core *app.Core, watch app.ExitWatcher, log *slog.Logger) *Keeper {
	return &Keeper{launches: l, core: core, watch: watch, log: log, wake: make(chan struct{}, 1),
		watched: map[string]watched{}, ended: map[string]proc.Identity{}}
}

// Run follows the launches until ctx is done. Hooks that run then have a moment
// to end, so that their result is kept; they go on without it.
func (k *Keeper) Run(ctx context.Context) error {
	defer k.awaitHooks(2 * time.Second)
	defer k.asking.Wait()
	defer k.unwatch()
	changes, err := k.launches.records.Changes(ctx)
	if err != nil {
		k.log.Warn("launches of other processes are noticed on the next refresh", "folder", k.launches.Folder(), "error", err)
	}
	cancel := k.core.Subscribe(func(*app.Snapshot) { k.poke() })
	defer cancel()
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
		case <-k.wake:
		case <-due.C:
		}
		if next, ok := k.look(ctx); ok {
			due.Reset(max(time.Until(next), time.Millisecond))
		}
	}
}

func (k *Keeper) awaitHooks(most time.Duration) {
	done := make(chan struct{})
	go func() { k.hooking.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(most):
	}
}

func (k *Keeper) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// look brings everything up to date, and says when to look again at the latest.
func (k *Keeper) look(ctx context.Context) (next time.Time, ok bool) {
	k.endLost(ctx)
	k.learn(ctx)
	if _, err := k.launches.Sweep(ctx, k.heir); err != nil && ctx.Err() == nil {
		k.log.Warn("launches could not be swept", "error", err)
	}
	records := k.launches.quietly()
	now := k.launches.now()
	for i := range records {
		r := &records[i]
		if r.Ended() {
			k.complete(*r) // also one that another Rollcall ended, which runs no hooks
		}
		k.follow(r)
		k.create(ctx, r, now)
		if at := r.due(now); !at.IsZero() && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	k.forget(records)
	k.ask(ctx, records)
	return next, ok
}

// ask has the agents of launches asked that are new or moved, likely by another
// Rollcall: the first files of an agent may lie where nobody watches yet.
func (k *Keeper) ask(ctx context.Context, records []Record) {
	known := make(map[string]place, len(records))
	agents := map[adapters.Name]bool{}
	for i := range records {
		r := &records[i]
		if r.Ended() {
			continue
		}
		known[r.ID] = place{r.Process, r.Session}
		if k.known[r.ID] != known[r.ID] {
			agents[r.Agent] = true
		}
	}
	k.known = known
	for name := range agents {
		k.asking.Go(func() { k.core.RefreshOne(ctx, name) })
	}
}

// due is when a record has to be looked at though nothing happens.
func (r *Record) due(now time.Time) time.Time {
	switch {
	case r.Ended():
		return r.EndedAt.Add(Keep)
	case r.young(now):
		return r.LaunchedAt.Add(Grace)
	}
	return time.Time{}
}

// endLost ends the launches whose process the watcher saw end.
func (k *Keeper) endLost(ctx context.Context) {
	k.mu.Lock()
	ended := k.ended
	k.ended = map[string]proc.Identity{}
	k.mu.Unlock()
	if len(ended) == 0 {
		return
	}
	records := k.launches.quietly()
	for _, r := range records {
		if id, ok := ended[r.ID]; !ok || r.Process != id || r.Ended() {
			continue
		}
		if heir, ok := k.heir(r); ok {
			k.move(ctx, r.ID, heir)
			continue
		}
		ended, done, err := k.launches.End(ctx, r.ID, nil)
		if err != nil {
			k.log.Warn("the end of a launch was not written down", "launch", r.ID, "error", err)
		}
		if done {
			k.complete(ended)
		}
	}
}

// learn finds the sessions of the launches in what the agents list now.
func (k *Keeper) learn(ctx context.Context) {
	records := k.launches.quietly()
	snap := k.core.Snapshot()
	for _, r := range records {
		if _, err := k.launches.Learn(ctx, r, snap); err != nil && ctx.Err() == nil {
			k.log.Warn("a launch could not be moved to the agent's own process", "launch", r.ID, "error", err)
		}
	}
}

func (k *Keeper) move(ctx context.Context, id string, to proc.Identity) {
	if _, err := k.launches.Move(ctx, id, to, ""); err != nil && ctx.Err() == nil {
		k.log.Warn("a launch could not be moved to the agent's own process", "launch", id, "error", err)
	}
}

// heir finds the agent behind a wrapper that is gone.
func (k *Keeper) heir(r Record) (proc.Identity, bool) { return k.launches.Heir(k.core.Snapshot())(r) }

// follow watches the process of a launch.
func (k *Keeper) follow(r *Record) {
	k.mu.Lock()
	w, ok := k.watched[r.ID]
	k.mu.Unlock()
	if ok && w.process == r.Process || r.Ended() || r.Process.IsZero() {
		return
	}
	if ok {
		w.cancel()
	}
	id, process := r.ID, r.Process
	tell := func() {
		k.mu.Lock()
		k.ended[id] = process
		k.mu.Unlock()
		k.poke()
	}
	cancel, err := k.watch.Watch(process, tell)
	switch {
	case errors.Is(err, proc.ErrGone):
		tell()
		cancel = func() {}
	case err != nil:
		k.log.Warn("the end of a launch is noticed on the next refresh", "process", process.PID, "error", err)
		return
	}
	k.mu.Lock()
	k.watched[id] = watched{process, cancel}
	k.mu.Unlock()
}

// forget ends the watches of launches that are over.
func (k *Keeper) forget(records []Record) {
	live := make(map[string]bool, len(records))
	for i := range records {
		live[records[i].ID] = !records[i].Ended()
	}
	var cancels []func()
	k.mu.Lock()
	for id, w := range k.watched {
		if !live[id] {
			delete(k.watched, id)
			cancels = append(cancels, w.cancel)
		}
	}
	k.mu.Unlock()
	for _, c := range cancels {
		c()
	}
}

func (k *Keeper) unwatch() { k.forget(nil) }

// create runs the hooks of a launch whose session is known, or which runs long
// enough without.
func (k *Keeper) create(ctx context.Context, r *Record, now time.Time) {
	if r.Ended() || r.Process.IsZero() || r.Session == "" && r.young(now) {
		return
	}
	k.hooks(ctx, r, OnCreate)
}

// complete runs the hooks of a launch that has ended, after those that should
// have run before.
func (k *Keeper) complete(r Record) {
	ctx := context.Background()
	k.hooks(ctx, &r, OnCreate)
	k.hooks(ctx, &r, OnComplete)
}

// sessionOf is the session of a launch as last shown.
func (k *Keeper) sessionOf(r *Record) adapters.Session {
	for _, s := range k.core.Snapshot().Sessions {
		if s.Agent == r.Agent && r.Session != "" && s.ID == r.Session {
			return s.Session
		}
	}
	return adapters.Session{ID: r.Session, Agent: r.Agent, CWD: r.Dir, Branch: r.Branch, Model: r.Model}
}
