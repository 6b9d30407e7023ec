// Package keep is the keeper: the one process of a user that keeps what Rollcall owns. It is the parent of the agents that
// are launched in the background, runs hooks, fires fuses, calls the webhook and removes records after a day. Everybody
// else starts it when there is something to keep (Client), and it ends by itself.
package keep

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/fault"
	"rollcall/app/fuse"
	"rollcall/app/instance"
	"rollcall/app/launch"
	"rollcall/app/settings"
	"rollcall/app/trouble"
	"rollcall/app/webhook"
	"rollcall/proc"
)

// Idle is the time after which a keeper ends that has nothing to keep and was asked nothing.
const Idle = time.Minute

// ErrRunning reports that the user has a keeper already.
var ErrRunning = instance.ErrRunning

// Config is what a keeper works with.
type Config struct {
	State    string // Rollcall's state folder
	Launches *launch.Launches
	Fuses    *fuse.Fuses
	Agents   []adapters.Adapter
	Table    proc.Lister
	Webhook  settings.Webhook
	// Live has the settings as they are now; nil: Webhook stays as it is.
	Live    *settings.Live
	Version string
	Log     *slog.Logger
}

// keeper is the running keeper.
type keeper struct {
	Config
	since    time.Time
	program  program
	core     *app.Core
	launched *launch.Keeper
	fired    *fuse.Keeper
	wake     chan struct{}
	yields   chan struct{}
	troubles *trouble.Book

	// ending is held for reading by each request. Once over is set, requests are refused.
	ending sync.RWMutex
	over   bool

	mu        sync.Mutex
	asked     time.Time // when the last request came that puts off the end
	attending map[*instance.Request]bool
	webhooks  int // of attending
	shown     []string
}

// Run keeps until nothing has been left to keep for Idle, a newer version takes over, or ctx is done. It returns ErrRunning
// if the user has a keeper already.
func Run(ctx context.Context, cfg Config) error {
	k := &keeper{Config: cfg, since: time.Now(), asked: time.Now(), program: thisProgram(), wake: make(chan struct{}, 1), yields: make(chan struct{}, 1),
		attending: map[*instance.Request]bool{}}
	k.troubles = trouble.NewBook(cfg.Log, k.show)
	watcher, err := proc.NewWatcher(proc.Open())
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Close() }()
	k.core = app.New(app.Config{Adapters: cfg.Agents, Table: cfg.Table, Launches: cfg.Launches, Watch: watcher, Log: cfg.Log})
	k.launched = launch.NewKeeper(cfg.Launches, k.core, watcher, cfg.Log)
	k.launched.Troubles = k.troubles
	k.fired = fuse.NewKeeper(cfg.Fuses, cfg.Log, nil)
	k.fired.Troubles = k.troubles
	own, err := instance.Serve(cfg.State, claimName(), k.handle)
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }()
	cfg.Log.Info("the keeper runs", "pid", os.Getpid(), "version", cfg.Version)

	keeping, cancel := context.WithCancel(ctx)
	defer cancel()
	sending := k.core.Events()
	defer sending.Close()
	var running sync.WaitGroup
	for _, part := range []func() error{
		func() error { return k.core.Run(keeping) },
		func() error { return k.launched.Run(keeping) },
		func() error { return k.fired.RunUntil(keeping, ctx) },
		func() error { return k.send(ctx, sending) },
	} {
		running.Go(func() {
			if err := part(); err != nil && !errors.Is(err, context.Canceled) {
				cfg.Log.Error("a part of the keeper ended", "error", err)
			}
		})
	}
	yielded := k.wait(ctx)
	cancel()
	sending.Close()
	if !yielded {
		err := own.Close() // the next keeper must not wait for messages that are on their way
		running.Wait()
		cfg.Log.Info("the keeper ends", "pid", os.Getpid())
		return err
	}
	return k.yield(ctx, own, &running)
}

// yield makes way for a newer version. It finishes what this process is the parent of.
func (k *keeper) yield(ctx context.Context, own *instance.Instance, running *sync.WaitGroup) error {
	k.Log.Info("the keeper makes way for a newer version", "pid", os.Getpid())
	fault.Point("keep.yield")
	done := make(chan struct{})
	go func() {
		running.Wait()
		k.launched.WaitForChildren()
		close(done)
	}()
	err := own.Close()
	fault.Point("keep.yielded")
	select {
	case <-done:
	case <-ctx.Done():
	}
	return err
}

// send calls the user's webhook when sessions end.
func (k *keeper) send(ctx context.Context, events *app.Events) error {
	sender, err := webhook.New(webhook.Config{URL: k.Webhook.URL, Secret: k.Webhook.Secret, Later: true, Log: k.Log, ExitCode: k.Launches.ExitCode})
	if err != nil {
		return err
	}
	if k.Live != nil {
		following, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		changes := k.Live.Changes()
		running.Go(func() { k.Live.Watch(following) })
		running.Go(func() { k.followSettings(following, sender, changes) })
	}
	return sender.Run(ctx, events)
}

// followSettings lets sender use the webhook of the settings as they change.
func (k *keeper) followSettings(ctx context.Context, sender *webhook.Sender, changes <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
		}
		set, _ := k.Live.Get()
		if err := sender.Set(set.Webhook.URL, set.Webhook.Secret); err != nil {
			k.Log.Warn("the webhook stays as it was", "error", err)
			continue
		}
		k.mu.Lock()
		k.Webhook = set.Webhook
		k.mu.Unlock()
	}
}

// wait waits until the keeper must end. It reports whether a newer version takes over.
func (k *keeper) wait(ctx context.Context) (yielded bool) {
	// Without events, what is left to keep is looked at after each Idle.
	launches, err := k.Launches.Changes(ctx)
	if err != nil {
		k.Log.Warn("changes of launches are noticed late", "error", err)
	}
	fuses, err := k.Fuses.Changes(ctx)
	if err != nil {
		k.Log.Warn("changes of fuses are noticed late", "error", err)
	}
	idle := fault.Wait(Idle)
	due := time.NewTimer(idle)
	defer due.Stop()
	busy := time.Now() // when something was last left to keep
	for {
		if kept, err := k.kept(); err != nil || !kept.IsNothing() {
			busy = time.Now()
		}
		left := idle - time.Since(k.latest(busy))
		if left <= 0 && k.end(busy, idle) {
			return false
		}
		due.Reset(max(left, time.Second/10))
		select {
		case <-ctx.Done():
			k.refuse()
			return false
		case <-k.yields:
			k.refuse()
			return true
		case <-due.C:
		case <-k.wake:
		case <-launches:
		case <-fuses:
		}
	}
}

// latest returns the later one of busy and the last request.
func (k *keeper) latest(busy time.Time) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked.After(busy) {
		return k.asked
	}
	return busy
}

// end refuses further requests, unless there was one meanwhile. It reports whether it does.
func (k *keeper) end(busy time.Time, idle time.Duration) bool {
	k.ending.Lock()
	defer k.ending.Unlock()
	kept, err := k.kept()
	k.over = err == nil && kept.IsNothing() && time.Since(k.latest(busy)) >= idle
	return k.over
}

func (k *keeper) refuse() {
	k.ending.Lock()
	defer k.ending.Unlock()
	k.over = true
}

// kept returns what there is to keep.
func (k *keeper) kept() (Kept, error) {
	kept, err := ToKeep(k.Launches, k.Fuses)
	k.mu.Lock()
	defer k.mu.Unlock()
	kept.Webhook = k.webhooks > 0
	return kept, err
}

// ToKeep returns what there is to keep on disk.
func ToKeep(launches *launch.Launches, fuses *fuse.Fuses) (kept Kept, err error) {
	records, err := launches.List()
	for i := range records {
		r := &records[i]
		if r.Foreign() {
			continue
		}
		for _, h := range r.Hooks {
			if h.Result == "" && h.FinishedAt.IsZero() && (h.RanAt.IsZero() || !r.Ended()) {
				kept.Hooks++
			}
		}
		if r.Ended() {
			kept.Records++
		} else {
			kept.Launches++
		}
	}
	list, fusesErr := fuses.List()
	for i := range list {
		if list[i].Fired() {
			kept.Records++
		} else {
			kept.Fuses++
		}
	}
	return kept, errors.Join(err, fusesErr)
}
