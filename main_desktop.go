//go:build !headless

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/cli"
	"rollcall/app/fuse"
	"rollcall/app/instance"
	"rollcall/app/launch"
	"rollcall/app/ui"
	"rollcall/app/webhook"
	"rollcall/app/window"
	"rollcall/assets"
	"rollcall/notify"
	"rollcall/proc"
	"rollcall/tray"
)

const build = "desktop"

// windowDays is how far back the window lists stopped sessions.
const windowDays = 7

var started = time.Now()

func desktop(deps *cli.Deps) {
	deps.Tray, deps.Window = runTray, runWindow
}

func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// parts are what the tray and the window are made of.
type parts struct {
	core     *app.Core
	agents   []adapters.Adapter
	table    proc.Lister
	log      *slog.Logger
	launches *launch.Launches // nil: the folder of our state is not known
	watcher  *proc.Watcher    // nil: ends are noticed on refresh only
}

// newParts makes the parts; the caller closes them.
func newParts(since time.Duration, totals bool, log *slog.Logger) parts {
	p := parts{log: log}
	p.agents, p.table = open()
	cfg := app.Config{Adapters: p.agents, Table: p.table, Since: since, Totals: totals, Log: log}
	if _, err := userSettings(); err != nil {
		log.Warn("the settings are not all used", "error", err)
	}
	var err error
	if p.launches, err = launches(); err != nil {
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
	return p
}

func (p *parts) close() {
	if p.watcher != nil {
		_ = p.watcher.Close()
	}
}

// keep follows the launches.
func (p *parts) keep(ctx context.Context, log *slog.Logger) error {
	if p.launches == nil || p.watcher == nil {
		return nil
	}
	return launch.NewKeeper(p.launches, p.core, p.watcher, log).Run(ctx)
}

// tell tells the user's webhook of ends.
func (p *parts) tell(ctx context.Context, log *slog.Logger) error {
	set, _ := userSettings()
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

// burn fires the fuses.
func burn(ctx context.Context, log *slog.Logger) error {
	f, err := fuses()
	if err != nil {
		return err
	}
	return fuse.NewKeeper(f, log, nil).Run(ctx)
}

// runTray is the tray process: the icon with its menu, and the notifications. A
// second one hands over to the first, which opens the window.
func runTray(ctx context.Context) error {
	own, err := instance.Claim(instance.Tray)
	log := logger()
	if errors.Is(err, instance.ErrRunning) {
		log.Info("the tray is running already: it opens the window")
		return instance.Send(instance.Tray, instance.Message{Verb: instance.Show})
	}
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }()
	p := newParts(0, false, log)
	defer p.close()
	core := p.core

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	events := core.Events()
	defer events.Close()
	notifier := notify.New(notify.Options{Icon: assets.App, Log: log, Open: func(id string) { openWindow(log, instance.Show, id) }})
	running.Go(func() { report(log, notifier.Run(ctx, events)) })
	running.Go(func() { report(log, core.Run(ctx)) })
	running.Go(func() { report(log, p.keep(ctx, log)) })
	running.Go(func() { report(log, burn(ctx, log)) })
	running.Go(func() { report(log, p.tell(ctx, log)) })
	running.Go(func() { obey(ctx, log, own) })
	err = tray.Run(ctx, core, tray.Options{
		OpenWindow: func(id string) { openWindow(log, instance.Show, id) },
		Launch:     func() { openWindow(log, instance.Launch, "") },
		NoHost:     func() { openWindow(log, instance.Show, "") },
		Started:    started,
		Log:        log,
	})
	if errors.Is(err, tray.ErrNoBus) {
		log.Warn("no tray here: opening the window instead", "error", err)
		cancel()
		running.Wait()
		return showWindow(context.WithoutCancel(ctx), cli.WindowOptions{}, true)
	}
	return err
}

// report logs why a part ended on its own.
func report(log *slog.Logger, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Error("a part of the tray ended", "error", err)
	}
}

// obey does what second starts of the tray ask for.
func obey(ctx context.Context, log *slog.Logger, own *instance.Instance) {
	for {
		select {
		case <-ctx.Done():
			return
		case msg, ok := <-own.Messages():
			if !ok {
				return
			}
			openWindow(log, msg.Verb, msg.Session)
		}
	}
}

// openWindow raises the window, or starts its process.
func openWindow(log *slog.Logger, verb, session string) {
	err := instance.Send(instance.Window, instance.Message{Verb: verb, Session: session})
	if errors.Is(err, instance.ErrNotRunning) {
		err = startWindow(verb, session)
	}
	if err != nil {
		log.Error("the window could not be opened", "error", err)
	}
}

func startWindow(verb, session string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"window"}
	if session != "" {
		args = append(args, "--session", session)
	}
	if verb == instance.Launch {
		args = append(args, "--launch")
	}
	cmd := exec.Command(self, args...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // or it stays a zombie; it says itself what went wrong
	return nil
}

// runWindow is the window process. A second one raises the first.
func runWindow(ctx context.Context, o cli.WindowOptions) error { return showWindow(ctx, o, false) }

// showWindow is runWindow; alone says that there can be no tray, whose work on
// launches and fuses is then done here.
func showWindow(ctx context.Context, o cli.WindowOptions, alone bool) error {
	verb := instance.Show
	if o.Launch {
		verb = instance.Launch
	}
	own, err := instance.Claim(instance.Window)
	if errors.Is(err, instance.ErrRunning) {
		return instance.Send(instance.Window, instance.Message{Verb: verb, Session: o.Session})
	}
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }()
	log := logger()
	p := newParts(windowDays*24*time.Hour, true, log)
	defer p.close()
	if alone {
		keeping, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() { report(log, p.keep(keeping, log)) })
		running.Go(func() { report(log, burn(keeping, log)) })
	}
	return window.Run(ctx, p.core, window.Options{Session: o.Session, Launch: o.Launch,
		Instance: own, Icon: assets.App, Content: p.content()})
}

// content is what the window shows beside the sessions.
func (p *parts) content() ui.Options {
	set, _ := userSettings()
	o := ui.Options{Days: windowDays, Agents: p.agents, Launches: p.launches, Table: p.table, KeepEnv: set.Launch.KeepEnv}
	var err error
	if o.Fuses, err = fuses(); err != nil {
		p.log.Warn("timers are not known", "error", err)
	}
	if o.Program, err = os.Executable(); err != nil {
		p.log.Warn("nothing can be launched in a terminal", "error", err)
	}
	return o
}
