// Package tray shows Rollcall's tray: the icon, its tooltip and the menu. The package model determines their contents.
package tray

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"rollcall/app"
	"rollcall/tray/model"
)

// The errors of Run on Linux.
var (
	// ErrNoBus is returned if there is no D-Bus session bus.
	ErrNoBus = errors.New("no D-Bus session bus")
	// ErrBusLost is returned when the connection to the session bus ends. To show the tray again, start a new process.
	ErrBusLost = errors.New("the connection to the D-Bus session bus ended")
)

// Core is the part of the core that the tray requires; *app.Core implements it.
type Core interface {
	// Snapshot returns the last snapshot, which is never nil. It does not block.
	Snapshot() *app.Snapshot
	// RefreshLive asks every adapter and returns when each has answered or failed for its live sessions. Snapshots with the
	// other sessions follow.
	RefreshLive(context.Context) *app.Snapshot
	// Subscribe calls f with each new snapshot, on one goroutine.
	Subscribe(f func(*app.Snapshot)) (cancel func())
}

// Options are the actions and callbacks of the tray. The tray calls each function on its own goroutine. A function may
// be nil.
type Options struct {
	// OpenWindow opens the window. If id is not empty, the window shows the session with this id.
	OpenWindow func(session string)
	// ShowTerminal shows the terminal of a session of this machine. If it is nil, the menu does not offer that.
	ShowTerminal func(session string)
	// OpenRequest opens the window at the request of a waiting session; nil: OpenWindow is called.
	OpenRequest func(session string)
	// Asked returns the request of a waiting session as one clean line; empty: the request is not known. Asked may be
	// nil, and must not block.
	Asked func(*app.Session) string
	// Launch opens the dialog that launches an agent. If it is nil, the row is disabled.
	Launch func()
	// Settings opens the settings; nil: the row does nothing.
	Settings func()
	// Replaced is closed when an update has replaced the program's file. The menu then offers a restart, which calls Restart
	// and makes Run return. If the channel is nil, the menu never offers it.
	Replaced <-chan struct{}
	Restart  func()
	// Ended returns the events of the sessions that ended last, the last one first; nil: the menu lists none. It must not
	// block.
	Ended func() []app.Event
	// Limits returns the rows of usage limits, at most model.MaxLimits; nil: the menu has none. It must not block.
	Limits func(now time.Time) []model.Row
	// Quiet reports whether do not disturb is on, and until when; a zero time means until the user turns it off. Quiet
	// may be nil, and must not block.
	Quiet func() (quiet bool, until time.Time)
	// SetQuiet turns do not disturb on until a time, or off. If it is nil, the menu does not offer that.
	SetQuiet func(on bool, until time.Time)
	// Changed receives when the results of Asked, Ended or Quiet have changed; it may be nil.
	Changed <-chan struct{}
	// Quit is called when the user quits, before Run returns.
	Quit func()
	// NoHost is called once if no host shows the tray within Grace. Run continues: the icon appears when a host starts.
	NoHost func()
	// Shown is called each time a host shows the icon, with that host's name.
	Shown func(by string)
	// Grace is the time that a tray host has to appear, since at login the panel and Rollcall start together; 0: 3 s.
	Grace time.Duration
	// Started is the start of the process, for the log; zero: the call of Run.
	Started time.Time
	Log     *slog.Logger // nil: discard
}

// Run shows the tray until ctx is done or the user quits, and then returns nil. It must be called on the main goroutine,
// as macOS and Windows demand, and at most once in a process. The caller must run the core.
func Run(ctx context.Context, core Core, opts Options) error {
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.Grace = cmp.Or(opts.Grace, 3*time.Second)
	if opts.Started.IsZero() {
		opts.Started = time.Now()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return run(ctx, newMenu(ctx, core, opts, cancel))
}

// shown logs that the host by shows the icon, and calls Shown.
func (o *Options) shown(by string) {
	o.Log.Info("tray: shown", "by", by, "after", time.Since(o.Started).Round(time.Millisecond))
	if o.Shown != nil {
		go o.Shown(by)
	}
}

func (o *Options) noHost() {
	o.Log.Warn("tray: no panel shows tray icons on this desktop")
	if o.NoHost != nil {
		go o.NoHost()
	}
}
