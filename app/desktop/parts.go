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
	"rollcall/app/fuse"
	"rollcall/app/launch"
	"rollcall/app/trouble"
	"rollcall/app/webhook"
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
	troubles *trouble.Book
	watcher  *proc.Watcher // nil: ends of processes are noticed on refresh only
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
	p.troubles = trouble.NewBook(log, p.core.ShowTroubles)
	return p
}

func (p *parts) close() {
	if p.watcher != nil {
		_ = p.watcher.Close()
	}
}

// serve starts what every long-running process of Rollcall needs, until ctx is done: it
// follows the launches, fires the fuses and calls the user's webhook.
func (p *parts) serve(ctx context.Context, running *sync.WaitGroup) {
	for _, part := range []func(context.Context, *slog.Logger) error{p.followLaunches, p.fireFuses, p.callWebhook} {
		running.Go(func() { report(p.log, part(ctx, p.log)) })
	}
}

// followLaunches follows the launches.
func (p *parts) followLaunches(ctx context.Context, log *slog.Logger) error {
	if p.launches == nil || p.watcher == nil {
		return nil
	}
	k := launch.NewKeeper(p.launches, p.core, p.watcher, log)
	k.Troubles = p.troubles
	return k.Run(ctx)
}

// callWebhook calls the user's webhook when sessions end.
func (p *parts) callWebhook(ctx context.Context, log *slog.Logger) error {
	set, _ := p.deps.Settings()
	if set.Webhook.URL == "" {
		return nil
	}
	events := p.core.Events()
	defer events.Close()
	cfg := webhook.Config{URL: set.Webhook.URL, Secret: set.Webhook.Secret, Log: log}
	if p.launches != nil {
		cfg.ExitCode = p.launches.ExitCode
	}
	sender, err := webhook.New(cfg)
	if err != nil {
		return err
	}
	return sender.Run(ctx, events)
}

// fireFuses fires the fuses that expire.
func (p *parts) fireFuses(ctx context.Context, log *slog.Logger) error {
	f, err := p.deps.Fuses()
	if err != nil {
		return err
	}
	k := fuse.NewKeeper(f, log, nil)
	k.Troubles = p.troubles
	return k.Run(ctx)
}
