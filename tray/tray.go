// Package tray is Rollcall's tray process: the icon, its tooltip and the menu.
// What they show is decided by package model; how they get there differs by
// platform.
package tray

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"rollcall/app"
)

// The ways in which Run ends other than by being asked to.
var (
	// ErrNoBus: there is no D-Bus session bus, so there can be no tray (Linux).
	ErrNoBus = errors.New("no D-Bus session bus")
	// ErrBusLost: the session bus went away, and the tray with it. It doesn't
	// come back within this process: start anew (Linux).
	ErrBusLost = errors.New("the D-Bus session bus went away")
)

// Core is what the tray needs of *app.Core.
type Core interface {
	// Snapshot is the last one; never nil, never blocks.
	Snapshot() *app.Snapshot
	// Refresh asks every adapter and returns when each has settled.
	Refresh(context.Context) *app.Snapshot
	// Subscribe calls f with each new snapshot, on one goroutine.
	Subscribe(f func(*app.Snapshot)) (cancel func())
}

// Options are what the tray does when the user asks, and whom it tells. The
// functions are called on goroutines of their own; nil ones are skipped.
type Options struct {
	// OpenWindow opens the window, at a session when its id isn't empty.
	OpenWindow func(session string)
	// Launch opens the dialog that launches an agent. Without it the row is
	// there and can't be chosen.
	Launch func()
	// Quit is called when the user quits, before Run returns.
	Quit func()
	// NoHost is called once, when Grace after the start nothing shows the tray.
	// Run goes on: the icon appears when a host comes.
	NoHost func()
	// Shown is called each time a host shows the icon, with that host's name.
	Shown func(by string)
	// Grace is how long a tray host may take to appear: at login the panel and
	// Rollcall start at the same moment. Zero: 3 s.
	Grace time.Duration
	// Started is when the process started, for the log's "after"; zero: when
	// Run was called.
	Started time.Time
	Log     *slog.Logger // nil: discard
}

// Run shows the tray until ctx is done or the user quits, and returns nil then.
// It must be called on the main goroutine, which macOS and Windows demand, and
// at most once in a process. It doesn't run the core: the caller does.
func Run(ctx context.Context, core Core, opts Options) error {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Grace == 0 {
		opts.Grace = 3 * time.Second
	}
	if opts.Started.IsZero() {
		opts.Started = time.Now()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return run(ctx, newMenu(ctx, core, opts, cancel))
}

// shown logs that by shows the icon, and tells whoever wants to know.
func (o *Options) shown(by string) {
	o.Log.Info("tray: shown", "by", by, "after", time.Since(o.Started).Round(time.Millisecond))
	if o.Shown != nil {
		go o.Shown(by)
	}
}

func (o *Options) noHost() {
	o.Log.Warn("tray: nothing shows tray icons here")
	if o.NoHost != nil {
		go o.NoHost()
	}
}
