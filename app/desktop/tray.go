//go:build !headless

package desktop

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/cli"
	"rollcall/app/control/answer"
	"rollcall/app/owned/notices"
	"rollcall/app/self/instance"
	"rollcall/app/store"
	"rollcall/app/window"
	"rollcall/assets"
	"rollcall/notify"
	"rollcall/tray"
)

var started = time.Now()

// recentlyEnded is how far back the tray asks other machines for stopped sessions: how a session ended while there was no connection is
// then known.
const recentlyEnded = time.Hour

// runTray runs the tray process until it ends. If an update replaced the program and the user asked for the restart, it then
// starts the new program, once everything of the old one has ended.
func runTray(ctx context.Context, deps *cli.Deps) error {
	u := newUpdate()
	err := runTrayOnce(ctx, deps, u)
	if err == nil && u.wanted.Load() && ctx.Err() == nil {
		return restart()
	}
	return err
}

// runTrayOnce runs the tray process: the icon with its menu, and the notifications. Where one
// is running already, it makes that one open the window.
func runTrayOnce(ctx context.Context, deps *cli.Deps, u *update) error {
	log := logger()
	own, err := instance.Claim(instance.Tray, log)
	if errors.Is(err, instance.ErrRunning) {
		log.Info("the tray is running already and opens the window")
		return instance.Send(instance.Tray, instance.Message{Verb: instance.Show})
	}
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }()
	return runOwnTray(ctx, deps, u, own)
}

// runOwnTray is runTrayOnce for the process that is the tray, which own shows.
func runOwnTray(ctx context.Context, deps *cli.Deps, u *update, own *instance.Instance) error {
	p, err := newParts(deps, 0, false)
	if err != nil {
		return err
	}
	defer p.close()

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	events := p.core.Events()
	defer events.Close()
	ends := p.core.Events()
	defer ends.Close()
	ended := p.endedMeanwhile()
	attention := p.newAttention()
	board, stopBoard := p.startBoard(ctx, attention.rereadRules, &running)
	defer stopBoard()
	notifier := notify.New(p.answering(p.notifications(ctx, attention, u), board))
	p.windowFailed = func(text notify.Text) { notifier.Say("window", text, "", nil) }
	recent := p.serveAttention(ctx, attention, ends, &running)
	defer p.core.Subscribe(attention.remember)()
	p.spawn(&running, func() error { return notifier.Run(ctx, events) })
	p.spawn(&running, func() error { return p.core.Run(ctx) })
	p.followMachines(ctx, &running, recentlyEnded)
	p.serve(ctx, &running)
	p.spawn(&running, func() error { return p.tellContinued(ctx, notifier.Say) })
	p.spawn(&running, func() error { return p.notifyMissed(ctx, notifier, ended, attention.currentRules) })
	p.serveRequests(ctx, own, attention, u, &running)
	err = tray.Run(ctx, p.core, p.withLimits(ctx, p.trayOptions(ctx, notifier, attention, board, recent, u), notifier, attention, &running))
	if errors.Is(err, tray.ErrNoBus) {
		p.log.Warn("no tray here: opening the window instead", "error", err)
		cancel()
		running.Wait()
		return runWindow(context.WithoutCancel(ctx), deps, cli.WindowOptions{}, true)
	}
	return err
}

// spawn runs a part of the tray on another goroutine, and logs the error with which it ends.
func (p *parts) spawn(running *sync.WaitGroup, part func() error) {
	running.Go(func() { report(p.log, part()) })
}

// serveAttention follows the settings, the state of do not disturb and the ends of sessions until ctx is done. It returns the ends.
func (p *parts) serveAttention(ctx context.Context, a *attention, ends *app.Events, running *sync.WaitGroup) *recentEnds {
	recent := &recentEnds{headless: func() app.Headless { return a.currentRules().Headless }}
	changes := p.live.Changes()
	running.Go(func() { p.live.Watch(ctx) })
	running.Go(func() { p.followSettings(ctx) })
	running.Go(func() { a.follow(ctx, changes) })
	p.spawn(running, func() error { return recent.follow(ctx, ends, a.redraw.Set) })
	return recent
}

// notifications returns the options of the tray's notifier. When the tray ends, notifications of waits stay on the screen if the user asked for the update u.
func (p *parts) notifications(ctx context.Context, a *attention, u *update) notify.Options {
	log := p.log
	o := notify.Options{Icon: assets.App, Log: log, Sessions: p.core, Reported: p.markEndsReported(), Open: func(id string) { p.openWindow(instance.Show, id) },
		Rules: a.currentRules, Quiet: a.isQuiet, DesktopIsQuiet: a.desktop.Is, HasFocus: a.hasFocus, Acted: a.hasActed, Changed: a.told, Launch: p.launches.EndOf,
		Away: func(s app.Session) { a.callAway(ctx, s) }, Leaves: u.wanted.Load}
	state, err := store.StatePath()
	if err != nil {
		log.Warn("notifications stay on the screen if Rollcall is killed", "error", err)
		return o
	}
	o.State = filepath.Join(state, store.Notifications)
	o.Notices = notices.In(state)
	return o
}

// askAgain is the interval at which the tray reads again what a waiting session asks. The window, in which the
// user answers, reads it more often.
const askAgain = 15 * time.Second

// whatIsAsked returns what a session asks, for a row of the menu; empty: that is not known.
func whatIsAsked(board *answer.Board, s *app.Session) string {
	a := board.Asks(s)
	if a.Text == "" {
		return ""
	}
	return a.Line()
}

// trayOptions returns the options of the tray.
func (p *parts) trayOptions(ctx context.Context, notifier *notify.Notifier, attention *attention, board *answer.Board, recent *recentEnds, u *update) tray.Options {
	return tray.Options{
		OpenWindow:   func(id string) { p.openWindow(instance.Show, id) },
		OpenRequest:  func(id string) { p.openWindow(instance.Queue, id) },
		Asked:        func(s *app.Session) string { return whatIsAsked(board, s) },
		ShowTerminal: p.showTerminal(ctx, notifier),
		Launch:       func() { p.openWindow(instance.Launch, "") },
		Settings:     func() { p.openWindow(instance.Settings, "") },
		NoHost:       func() { p.openWindow(instance.Show, "") },
		Replaced:     u.replaced,
		Restart:      func() { u.wanted.Store(true) },
		Ended:        recent.get,
		Quiet:        attention.isQuiet,
		SetQuiet:     attention.setQuiet,
		Changed:      attention.redraw,
		Started:      started,
		Log:          p.log,
	}
}

// startBoard returns a board that follows the core until ctx is done, or stop is called.
func (p *parts) startBoard(ctx context.Context, changed func(), running *sync.WaitGroup) (board *answer.Board, stop func()) {
	board = answer.NewBoard(p.answers(), askAgain, changed)
	stop = p.core.Subscribe(board.SetSessions)
	running.Go(func() { board.Run(ctx) })
	return board, stop
}

// answering adds to the options of the notifier the functions that show and answer requests.
func (p *parts) answering(o notify.Options, board *answer.Board) notify.Options {
	answers := p.answers()
	o.Board, o.OpenRequest = board, func(id string) { p.openWindow(instance.Queue, id) }
	o.Answer = func(ctx context.Context, ref answer.Ref, d adapters.Decision) error {
		_, err := answers.Answer(ctx, ref, d)
		return err
	}
	return o
}

// report logs the error with which a part ended.
func report(log *slog.Logger, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Error("a part of the tray ended", "error", err)
	}
}

// serveRequests handles messages from other processes of Rollcall, and notices an update, until ctx is done. At the first start by hand it opens the window.
func (p *parts) serveRequests(ctx context.Context, own *instance.Instance, a *attention, u *update, running *sync.WaitGroup) {
	running.Go(func() { p.handleMessages(ctx, own, a) })
	running.Go(func() { u.watch(ctx) })
	if startedByHand() && window.IsFirst() {
		running.Go(func() { p.openWindow(instance.Show, "") })
	}
}

// handleMessages handles messages from other processes of Rollcall until ctx is done.
func (p *parts) handleMessages(ctx context.Context, own *instance.Instance, a *attention) {
	for {
		select {
		case <-ctx.Done():
			return
		case msg, ok := <-own.Messages():
			if !ok {
				return
			}
			if msg.Verb == instance.Acted {
				a.acts(msg.Session)
				continue
			}
			p.openWindow(msg.Verb, msg.Session)
		}
	}
}

// openWindow raises the window, or starts its process.
func (p *parts) openWindow(verb, session string) {
	err := instance.Send(instance.Window, instance.Message{Verb: verb, Session: session})
	if errors.Is(err, instance.ErrNotRunning) {
		err = p.startWindow(verb, session)
	}
	if err != nil {
		p.log.Error("the window could not be opened", "error", err)
	}
}

// startedByHand reports whether the user started the tray: from a terminal, or from the desktop, which names what it starts to the display. The start at login
// and services have neither. The first such start opens the window with the introduction, since an icon among others is easily missed.
func startedByHand() bool {
	launcher := os.Getenv("GIO_LAUNCHED_DESKTOP_FILE")
	return runtime.GOOS != "linux" || launcher != "" && !strings.Contains(launcher, "/autostart/") ||
		os.Getenv("DESKTOP_STARTUP_ID") != "" || os.Getenv("XDG_ACTIVATION_TOKEN") != "" || term.IsTerminal(int(os.Stderr.Fd()))
}

func (p *parts) startWindow(verb, session string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"window"}
	if session != "" {
		args = append(args, "--session", session)
	}
	switch verb {
	case instance.Launch:
		args = append(args, "--launch")
	case instance.Settings:
		args = append(args, "--settings")
	case instance.Queue:
		args = append(args, "--queue")
	}
	cmd := exec.Command(self, args...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return err
	}
	go p.awaitWindow(cmd)
	return nil
}
