package launch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store"
	"rollcall/proc"
)

// Keeper keeps the records and locks of launches up to date: it finds their sessions, moves records and locks from
// wrappers to agents, ends them when the agent's process ends, runs hooks and removes old records. At rest it has one
// timer, for the next record that is due.
type Keeper struct {
	// Troubles collects the reasons why launches can't be kept. NewKeeper sets one that only logs them.
	Troubles *store.Failures

	launches *Launches
	core     *app.Core
	watch    app.ExitWatcher
	log      *slog.Logger

	wake     app.Wakeup
	hooks    sync.WaitGroup
	children sync.WaitGroup // see Start
	moved    moved
	watched  map[string]watched // by launch
}

type watched struct {
	process proc.Identity
	cancel  func()
}

// NewKeeper returns a keeper. watch and log must not be nil.
func NewKeeper(l *Launches, core *app.Core, watch app.ExitWatcher, log *slog.Logger) *Keeper {
	return &Keeper{Troubles: store.NewFailures(log, nil), launches: l, core: core, watch: watch, log: log, moved: moved{core: core}, wake: app.NewWakeup(),
		watched: map[string]watched{}}
}

// Run keeps the launches until ctx is done. It then waits up to 2 seconds for the hooks that run, to store their
// results; it does not end them.
func (k *Keeper) Run(ctx context.Context) error {
	defer k.waitForHooks(2 * time.Second)
	defer k.moved.refreshes.Wait()
	defer k.cancelWatches(nil)
	changes, err := k.launches.records.Changes(ctx)
	if err != nil {
		k.log.Warn("launches of other processes are noticed on the next refresh", "folder", k.launches.Folder(), "error", err)
	}
	cancel := k.core.Subscribe(func(*app.Snapshot) { k.wake.Set() })
	defer cancel()
	k.Troubles.Loop(ctx, store.Task{Part: part, Changes: changes, Wake: k.wake, Do: k.update})
	return nil
}

// part is the name under which a trouble.Book lists the troubles of launches.
const part = "launches"

func (k *Keeper) waitForHooks(limit time.Duration) {
	done := make(chan struct{})
	go func() { k.hooks.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// update brings everything up to date. It returns the time after which it must be called again, or 0.
func (k *Keeper) update(ctx context.Context) (again time.Duration, err error) {
	failed := func(e error) { err = errors.Join(err, e) }
	_, sweepErr := k.launches.Sweep(ctx, k.launches.Successor(k.core.Snapshot()))
	failed(sweepErr)
	failed(k.learn(ctx))
	records := k.launches.readable()
	now := k.launches.now()
	var next time.Time
	for i := range records {
		r := &records[i]
		if r.Foreign() {
			continue
		}
		if r.Ended() {
			failed(k.runCompleteHooks(*r))
		}
		k.watchProcess(r)
		failed(k.runCreateHooks(ctx, r, now))
		if at := r.due(now); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	k.cancelWatches(records)
	k.moved.refresh(ctx, records)
	if !next.IsZero() {
		again = max(next.Sub(now), time.Millisecond)
	}
	return again, err
}

// due returns the time at which a record changes without an event, or the zero time.
func (r *Record) due(now time.Time) time.Time {
	switch {
	case r.Ended() && !r.Parent.IsZero() && r.ExitCode == nil && now.Sub(r.EndedAt) < codeLimit:
		return r.EndedAt.Add(codeLimit) // the hooks may wait for the code
	case r.Ended():
		return r.EndedAt.Add(Keep)
	case r.isStarting(now):
		return r.LaunchedAt.Add(Grace)
	}
	return time.Time{}
}

// learn finds the sessions of the launches among those that the agents list now.
func (k *Keeper) learn(ctx context.Context) (err error) {
	snap := k.core.Snapshot()
	for _, r := range k.launches.readable() {
		_, learnErr := k.launches.Learn(ctx, r, snap)
		err = errors.Join(err, learnErr)
	}
	return err
}

// watchProcess makes the keeper update when a launch's process ends: Sweep then finds the agent behind it, or ends the launch.
func (k *Keeper) watchProcess(r *Record) {
	w, ok := k.watched[r.ID]
	if ok && w.process == r.Process || r.Ended() || r.Process.IsZero() {
		return
	}
	if ok {
		w.cancel()
	}
	cancel, err := k.watch.Watch(r.Process, k.wake.Set)
	switch {
	case errors.Is(err, proc.ErrGone):
		k.wake.Set()
		cancel = func() {}
	case err != nil:
		k.log.Warn("the end of a launch is noticed on the next refresh", "process", r.Process.PID, "error", err)
		return
	}
	k.watched[r.ID] = watched{r.Process, cancel}
}

// cancelWatches cancels the watches of launches that have ended or are not among records.
func (k *Keeper) cancelWatches(records []Record) {
	for id, w := range k.watched {
		if !slices.ContainsFunc(records, func(r Record) bool { return r.ID == id && !r.Ended() }) {
			w.cancel()
			delete(k.watched, id)
		}
	}
}

// runCreateHooks runs the OnCreate hooks of a launch whose session is known, or which is older than Grace.
func (k *Keeper) runCreateHooks(ctx context.Context, r *Record, now time.Time) error {
	if r.Ended() || r.Process.IsZero() || r.Session == "" && r.isStarting(now) {
		return nil
	}
	return k.startHooks(ctx, r, OnCreate)
}

// runCompleteHooks runs the hooks of a launch that has ended: first those for OnCreate, if they have not run yet. It
// does nothing while the exit code is still to be stored, since the hooks receive it.
func (k *Keeper) runCompleteHooks(r Record) error {
	if k.launches.codeIsDue(&r) {
		return nil
	}
	ctx := context.Background()
	return errors.Join(k.startHooks(ctx, &r, OnCreate), k.startHooks(ctx, &r, OnComplete))
}

// Observe refreshes the agents of launches that are new or have moved to another process, until ctx is done. It changes
// no record: the user's keeper does.
func (l *Launches) Observe(ctx context.Context, core *app.Core) error {
	changes, err := l.records.Changes(ctx)
	m := moved{core: core}
	defer m.refreshes.Wait()
	for {
		m.refresh(ctx, l.readable())
		select {
		case <-ctx.Done():
			return err
		case <-changes:
		}
	}
}

// moved finds the launches that are new or have moved, probably by another process of Rollcall, and refreshes their
// agents. The first files of an agent may be in a folder that is not watched yet.
type moved struct {
	core      *app.Core
	known     map[string]place // the place of each launch at the last call
	refreshes sync.WaitGroup
}

// place is the process and the session of a launch.
type place struct {
	process proc.Identity
	session string
}

func (m *moved) refresh(ctx context.Context, records []Record) {
	known := make(map[string]place, len(records))
	agents := map[adapters.Name]bool{}
	for i := range records {
		r := &records[i]
		if r.Ended() {
			continue
		}
		known[r.ID] = place{r.Process, r.Session}
		if m.known[r.ID] != known[r.ID] {
			agents[r.Agent] = true
		}
	}
	m.known = known
	for name := range agents {
		m.refreshes.Go(func() { m.core.RefreshOne(ctx, name) })
	}
}

// Changes returns a channel that receives when a record has changed; see store.Folder.Changes.
func (l *Launches) Changes(ctx context.Context) (<-chan struct{}, error) {
	return l.records.Changes(ctx)
}
