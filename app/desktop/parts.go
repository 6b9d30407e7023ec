//go:build !headless

package desktop

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/cli"
	"rollcall/app/keep"
	"rollcall/app/launch"
	"rollcall/app/machine"
	"rollcall/app/settings"
	"rollcall/proc"
)

// Add adds the tray and the window to the command line.
func Add(deps *cli.Deps) {
	deps.Tray = func(ctx context.Context) error { return runTray(ctx, deps) }
	deps.Window = func(ctx context.Context, o cli.WindowOptions) error { return runWindow(ctx, deps, o, false) }
}

func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// parts are the parts that the tray and the window have in common.
type parts struct {
	deps     *cli.Deps
	core     *app.Core
	agents   []adapters.Adapter
	table    proc.Lister
	log      *slog.Logger
	launches *launch.Launches // nil: the state folder is not known
	watcher  *proc.Watcher    // nil: ends of processes are noticed on refresh only
	live     *settings.Live   // nil: there are no settings
	troubles *troubles
	machines *machine.Machines
	kept     *machine.Kept // those of machine add; nil: not known
}

// newParts returns the parts. The caller closes them.
func newParts(deps *cli.Deps, since time.Duration, totals bool) parts {
	log := logger()
	p := parts{deps: deps, log: log}
	p.agents, p.table = deps.Open()
	cfg := app.Config{Adapters: p.agents, Table: p.table, Since: since, Totals: totals, Log: log}
	if _, err := p.deps.Settings(); err != nil {
		log.Warn("some settings are not used", "error", err)
	}
	var err error
	if deps.Live != nil {
		if p.live, err = deps.Live(); err != nil {
			log.Warn("changes of the settings are not noticed", "error", err)
		}
	}
	if p.machines, p.kept, err = deps.Machines(); err != nil {
		log.Warn("some machines are not used", "error", err)
	}
	cfg.Machines = p.machines
	if p.launches, err = p.deps.Launches(); err != nil {
		log.Warn("launches are not known", "error", err)
	} else {
		cfg.Launches = p.launches
	}
	if p.watcher, err = proc.NewWatcher(proc.Open()); err != nil {
		log.Warn("ends of processes are noticed on refresh only", "error", err)
	} else {
		cfg.Watch = p.watcher
	}
	p.core = app.New(cfg)
	p.troubles = &troubles{show: p.core.ShowTroubles}
	p.showMistake()
	return p
}

func (p *parts) close() {
	if p.watcher != nil {
		_ = p.watcher.Close()
	}
}

// serve starts what a long-running process needs, until ctx is done: it notices the launches of other processes, and
// sees to it that a keeper runs whenever there is something to keep.
func (p *parts) serve(ctx context.Context, running *sync.WaitGroup) {
	if p.launches == nil {
		return
	}
	running.Go(func() { report(p.log, p.launches.Observe(ctx, p.core)) })
	running.Go(func() { report(p.log, p.attend(ctx)) })
}

// followMachines shows the other machines until ctx is done, also those that machine add adds meanwhile.
func (p *parts) followMachines(ctx context.Context, running *sync.WaitGroup, since time.Duration) {
	running.Go(func() { p.machines.Run(ctx, since, p.core) })
	if p.kept != nil {
		set, _ := p.deps.Settings()
		running.Go(func() { report(p.log, p.kept.Follow(ctx, set.Machines, p.machines)) })
	}
}

// attend sees to it that a keeper runs. It shows the keeper's troubles.
func (p *parts) attend(ctx context.Context) error {
	if p.deps.Keeper == nil {
		return nil
	}
	f, err := p.deps.Fuses()
	if err != nil {
		return err
	}
	show := func(list []string) { p.troubles.set(ofKeeper, list) }
	return p.deps.Keeper.Attend(ctx, keep.Attendance{Launches: p.launches, Fuses: f, Settings: p.deps.Settings, Changed: p.settingsChanges(), Show: show})
}

// settingsChanges returns a channel that receives when the settings have changed; nil: never.
func (p *parts) settingsChanges() <-chan struct{} {
	if p.live == nil {
		return nil
	}
	return p.live.Changes()
}
