package ui

import (
	"context"
	"errors"
	"os"
	"time"

	"rollcall/app"
	"rollcall/app/control/opener"
	"rollcall/app/settings"
	"rollcall/app/usage"
	"rollcall/bounded"
)

// set returns the user's settings, or the defaults where there are none.
func (u *UI) set() (set settings.Settings) {
	if live := u.options.Live; live != nil {
		set, _ = live.Get()
	}
	return set
}

// runTerminal opens a terminal that runs a program with its arguments in folder, and returns the terminal's name. It may take seconds.
func (u *UI) runTerminal(folder string, program []string) (string, error) {
	set := u.set()
	return opener.New(&set).Terminal(folder, program)
}

// placeNote returns a note about a place where an agent's files are read, if something is wrong with it; "" if the place exists. It may take seconds, but does
// not wait for a file system that does not answer.
func placeNote(path string) string {
	_, err := bounded.In(path, bounded.ReadLimit, func(context.Context) (os.FileInfo, error) { return os.Stat(path) })
	switch {
	case errors.Is(err, bounded.ErrNoAnswer):
		return "does not respond"
	case err != nil:
		return "does not exist"
	}
	return ""
}

// historyLimit is how long an agent may take to return the usage of its sessions.
const historyLimit = time.Minute

// askHistory returns a snapshot of the sessions that were active since a time, with their usage; a zero time means all sessions.
func (u *UI) askHistory(ctx context.Context, since time.Time) *app.Snapshot {
	cfg := app.Config{Adapters: u.options.Agents, Table: u.options.Table, Since: usage.Period(u.host.Now(), since), Totals: true, Usage: true, Limit: historyLimit}
	if u.options.Launches != nil {
		cfg.Launches = u.options.Launches
	}
	return app.Ask(ctx, cfg, app.Once{})
}
