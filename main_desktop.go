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

	"rollcall/adapters/all"
	"rollcall/app"
	"rollcall/app/cli"
	"rollcall/app/instance"
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

// newCore makes the core of the tray or of the window, and the watcher that it
// needs, which the caller closes.
func newCore(since time.Duration, totals bool, log *slog.Logger) (*app.Core, func()) {
	table := proc.Open()
	cfg := app.Config{Adapters: all.New(table), Table: table, Since: since, Totals: totals, Log: log}
	watcher, err := proc.NewWatcher(table)
	if err != nil {
		log.Warn("ends of processes are noticed on refresh only", "error", err)
		return app.New(cfg), func() {}
	}
	cfg.Watch = watcher
	return app.New(cfg), func() { _ = watcher.Close() }
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
	core, release := newCore(0, false, log)
	defer release()

	ctx, cancel := context.WithCancel(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer cancel()
	events := core.Events()
	defer events.Close()
	notifier := notify.New(notify.Options{Icon: assets.App, Log: log, Open: func(id string) { openWindow(log, instance.Show, id) }})
	parts.Go(func() { report(log, notifier.Run(ctx, events)) })
	parts.Go(func() { report(log, core.Run(ctx)) })
	parts.Go(func() { obey(ctx, log, own) })
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
		parts.Wait()
		return runWindow(context.WithoutCancel(ctx), cli.WindowOptions{})
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
func runWindow(ctx context.Context, o cli.WindowOptions) error {
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
	core, release := newCore(windowDays*24*time.Hour, true, logger())
	defer release()
	return window.Run(ctx, core, window.Options{Session: o.Session, Launch: o.Launch,
		Instance: own, Icon: assets.App, Days: windowDays})
}
