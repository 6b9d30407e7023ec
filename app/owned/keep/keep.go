// Package keep is the keeper: the one process of a user that keeps what Rollcall owns. It is the parent of the agents that
// are launched in the background, runs hooks, fires fuses, calls the webhook and removes records after a day. The other
// processes of Rollcall start it when there is something to keep (Client). It ends by itself.
package keep

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/webhook"
	"rollcall/app/self/executable"
	"rollcall/app/self/instance"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/app/store/fault"
	"rollcall/proc"
)

// Idle is the time after which a keeper ends if it has nothing to keep and received no request.
const Idle = time.Minute

// ErrRunning reports that the user has a keeper already.
var ErrRunning = instance.ErrRunning

// Config configures Run.
type Config struct {
	State    string // Rollcall's state folder
	Launches *launch.Launches
	Fuses    *fuse.Fuses
	Agents   []adapters.Adapter
	Table    proc.Lister
	// Settings reads the user's settings as they are now.
	Settings func() (settings.Settings, error)
	Version  string
	Build    string // "desktop" or "headless"
	Log      *slog.Logger
}

// keeper is the running keeper.
type keeper struct {
	Config
	since    time.Time
	program  executable.File
	around   map[string]string // proc.Surroundings
	core     *app.Core
	launched *launch.Keeper
	fired    *fuse.Keeper
	sender   *webhook.Sender
	wake     app.Wakeup
	yields   app.Wakeup
	troubles *store.Failures

	// ending is held for reading by each request. Once over is set, requests are refused.
	ending sync.RWMutex
	over   bool

	mu        sync.Mutex
	asked     time.Time // when the last request came that delays the end of the keeper
	attending []attendant
	shown     []string
	setErr    error // the error with which the settings were last read
}

// attendant is a process that called Attend. Its webhook, if it has one, replaces that of the keeper's settings.
type attendant struct {
	request *instance.Request
	webhook *webhookRequest
}

// settings returns the user's settings as they are now. The webhook of the newest attendant that has one replaces the
// webhook of the settings. With an error, settings returns the settings that could be understood.
func (k *keeper) settings() (settings.Settings, error) {
	s, err := k.Settings()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil && (k.setErr == nil || k.setErr.Error() != err.Error()) {
		k.Log.Warn("some settings are not used", "error", err)
	}
	k.setErr = err
	for _, a := range slices.Backward(k.attending) {
		if a.webhook != nil {
			s.Webhook = settings.Webhook{URL: a.webhook.URL, Secret: a.webhook.Secret}
			break
		}
	}
	return s, err
}

// Run runs the keeper until there has been nothing to keep for Idle, a newer version takes over, or ctx is done. It returns
// ErrRunning if the user has a keeper already.
func Run(ctx context.Context, cfg Config) error {
	k := &keeper{Config: cfg, since: time.Now(), asked: time.Now(), program: executable.Running(), around: proc.Surroundings(), wake: app.NewWakeup(), yields: app.NewWakeup()}
	k.troubles = store.NewFailures(cfg.Log, k.show)
	watcher, err := proc.NewWatcher(proc.Open())
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Close() }()
	k.core = app.New(app.Config{Adapters: cfg.Agents, Table: cfg.Table, Launches: cfg.Launches, Watch: watcher, Log: cfg.Log, Totals: k.countsTokens()})
	k.launched = launch.NewKeeper(cfg.Launches, k.core, watcher, cfg.Log)
	k.launched.Troubles = k.troubles
	k.fired = fuse.NewKeeper(cfg.Fuses, cfg.Log, nil)
	k.fired.Troubles, k.fired.Continue = k.troubles, k.continueSession
	k.sender = webhook.New(webhook.Config{Target: k.target, LeftOut: k.leftOut, Folder: webhookFolder(cfg.State), Alive: proc.Open().Alive,
		ExitCode: cfg.Launches.ExitCode, Log: cfg.Log, Show: func(text string) { k.troubles.Say("webhook", text) }})
	own, err := instance.Serve(cfg.State, claimName(), cfg.Log, k.handle)
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }()
	cfg.Log.Info("the keeper runs", "pid", os.Getpid(), "version", cfg.Version)

	return k.keep(ctx, own)
}

// keep runs the parts of the keeper until there has been nothing to keep for Idle, a newer version takes over, or ctx is done.
func (k *keeper) keep(ctx context.Context, own *instance.Instance) error {
	keeping, cancel := context.WithCancel(ctx)
	defer cancel()
	sending, counting := k.core.Events(), k.core.Events()
	defer sending.Close()
	defer counting.Close()
	ran := running(k.Launches) // before their ends are recorded
	var parts sync.WaitGroup
	for _, part := range []func() error{
		func() error { return k.core.Run(keeping) },
		func() error { return k.launched.Run(keeping) },
		func() error { return k.fired.RunUntil(keeping, ctx) },
		func() error { return k.export(keeping, counting) },
		func() error { return k.sender.Run(ctx, k.core, sending, ran) },
	} {
		parts.Go(func() {
			if err := part(); err != nil && !errors.Is(err, context.Canceled) {
				k.Log.Error("a part of the keeper ended", "error", err)
			}
		})
	}
	yielded := k.wait(ctx)
	cancel()
	sending.Close()
	if !yielded {
		err := own.Close() // the next keeper must not have to wait for messages that are being sent
		parts.Wait()
		k.Log.Info("the keeper ends", "pid", os.Getpid())
		return err
	}
	return k.yield(ctx, own, &parts)
}

// yield lets a newer version become the keeper. It waits for the processes that this process is the parent of.
func (k *keeper) yield(ctx context.Context, own *instance.Instance, parts *sync.WaitGroup) error {
	k.Log.Info("the keeper ends because a newer version replaces it", "pid", os.Getpid())
	fault.Point("keep.yield")
	done := make(chan struct{})
	go func() {
		parts.Wait()
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

// countsTokens reports whether the metrics need the exact tokens of sessions.
func (k *keeper) countsTokens() bool {
	s, _ := k.settings()
	return s.Metrics.IsSet()
}

// target returns where the ends of sessions are sent.
func (k *keeper) target() (webhook.Target, error) {
	s, err := k.settings()
	return webhook.Target{URL: s.Webhook.URL, Secret: s.Webhook.Secret}, err
}

// leftOut returns the agents whose sessions are not shown. No messages are sent about the ends of their sessions.
func (k *keeper) leftOut() []adapters.Name {
	s, _ := k.settings()
	return s.LeftOutAgents
}

// webhookFolder returns the folder of the webhook's messages that have not been delivered.
func webhookFolder(state string) store.Folder { return store.Below(state, store.Webhook) }

// running returns the launches that ran when they were last seen.
func running(launches *launch.Launches) (out []webhook.Session) {
	list, _ := launches.List() // the launches' own keeper reports the records that can't be read
	for i := range list {
		if r := &list[i]; !r.Ended() && !r.Foreign() && !r.Process.IsZero() {
			out = append(out, webhook.Session{Agent: r.Agent, ID: cmp.Or(r.Session, r.ID), Launch: r.ID, CWD: r.Dir, Process: r.Process})
		}
	}
	return out
}

// wait waits until the keeper must end. It reports whether a newer version takes over.
func (k *keeper) wait(ctx context.Context) (yielded bool) {
	// Without events, the keeper checks after each Idle what is left to keep.
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

func (k *keeper) latest(busy time.Time) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked.After(busy) {
		return k.asked
	}
	return busy
}

// end makes the keeper refuse requests if there has been nothing to keep, and no request, for idle. It reports whether the
// keeper refuses requests now.
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

func (k *keeper) kept() (Kept, error) {
	kept, err := ToKeep(k.Launches, k.Fuses)
	s, _ := k.settings() // the settings that are understood are used
	if s.Webhook.URL != "" {
		kept.Messages = k.sender.Waiting()
		kept.Webhook = k.isAttended() || Installed()
	}
	kept.Metrics = s.Metrics.IsSet() && (k.isAttended() || Installed())
	return kept, err
}

func (k *keeper) isAttended() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.attending) > 0
}

// ToKeep counts what there is to keep on disk.
func ToKeep(launches *launch.Launches, fuses *fuse.Fuses) (kept Kept, err error) {
	records, err := launches.List()
	for i := range records {
		r := &records[i]
		if r.Foreign() {
			continue
		}
		for _, h := range r.Hooks {
			if h.Result == "" && h.FinishedAt.IsZero() && (launches.Pending(&h) || !r.Ended()) {
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
		switch {
		case list[i].Foreign():
		case list[i].Pending():
			kept.Fuses++
		default:
			kept.Records++
		}
	}
	return kept, errors.Join(err, fusesErr)
}
