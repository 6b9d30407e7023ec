//go:build !headless

package desktop

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"rollcall/app/cli"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/notices"
	"rollcall/app/self/autostart"
	"rollcall/app/self/instance"
	"rollcall/app/store"
	"rollcall/app/ui"
	"rollcall/app/window"
	"rollcall/assets"
	"rollcall/notify"
	"rollcall/tray"
)

// windowDays is how far back the window lists stopped sessions.
const windowDays = 7

// runWindow runs the window process. If another window process runs already, runWindow raises that
// window. alone reports that this desktop can have no tray, so that this process does the tray's
// work too: see serve.
func runWindow(ctx context.Context, deps *cli.Deps, o cli.WindowOptions, alone bool) error {
	open := instance.Message{Verb: instance.Show, Session: o.Session}
	switch {
	case o.Launch:
		open.Verb = instance.Launch
	case o.Settings:
		open.Verb = instance.Settings
	case o.Queue:
		open.Verb = instance.Queue
	}
	own, err := instance.Claim(instance.Window, logger())
	if errors.Is(err, instance.ErrRunning) {
		return instance.Send(instance.Window, open)
	}
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }()
	p, err := newParts(deps, windowDays*24*time.Hour, true)
	if err != nil {
		return err
	}
	defer p.close()
	keeping, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { p.live.Watch(keeping) })
	running.Go(func() { p.followSettings(keeping) })
	p.followMachines(keeping, &running, windowDays*24*time.Hour)
	if alone {
		p.serve(keeping, &running)
	}
	return window.Run(ctx, p.core, window.Options{Open: open, Instance: own, Icon: assets.App, Content: p.content()})
}

// testNotification sends a notification as the tray does. Do not disturb does not hold it back.
func (p *parts) testNotification(ctx context.Context) error {
	return notify.SendOne(ctx, notify.Options{Icon: assets.App, Log: p.log},
		notify.Text{Title: "Rollcall can notify you", Body: "This is a test. A notification like this one tells you when an agent needs you or has ended."})
}

// content returns what the window shows besides the sessions.
func (p *parts) content() ui.Options {
	set := p.settings()
	o := ui.Options{Days: windowDays, Agents: p.agents, Launches: p.launches, Marks: p.marks, Fuses: p.fuses, Quiet: p.quiet, Table: p.table, Machines: p.machines, Live: p.live, KeepEnv: set.Launch.KeepEnv, Defaults: launch.DefaultsOf(set),
		Autostart: &autostart.Tray, Version: p.deps.Version.Version, Answers: p.answers(),
		Shower: p.shower(), TestNotification: p.testNotification, TrayHint: trayHint}
	state, err := store.StatePath()
	if err == nil {
		o.LogFolder = state
		o.Notices = notices.In(state)
	}
	o.Program, err = os.Executable()
	if err != nil {
		p.log.Warn("nothing can be launched in a terminal", "error", err)
	}
	return o
}

// trayHint returns how the tray's icon becomes visible on this desktop; empty: a panel shows it.
func trayHint(ctx context.Context) string {
	there, err := tray.HasHost(ctx)
	if there {
		return ""
	}
	return missingPanel(os.Getenv, err)
}

// missingPanel returns what the user can do if no panel shows tray icons.
func missingPanel(getenv func(string) string, err error) string {
	switch {
	case err != nil:
		return "There is no tray here: " + err.Error() + ". Rollcall shows this window in its place."
	case strings.Contains(strings.ToUpper(getenv("XDG_CURRENT_DESKTOP")), "GNOME"):
		return "GNOME shows tray icons only with the AppIndicator extension. Install it from extensions.gnome.org/extension/615/appindicator-support, or the package " +
			"gnome-shell-extension-appindicator (Debian, Ubuntu, Fedora), log in again and turn it on in the application Extensions. Notifications and this window work without it."
	}
	return "No panel here shows tray icons. Rollcall's icon appears as soon as one does; notifications and this window work without it."
}
