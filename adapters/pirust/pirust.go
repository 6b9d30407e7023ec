// Package pirust reports the sessions of pi_agent_rust, the port of Pi to Rust.
//
// It shares Pi's store: a session is its own when the file is named by the first 8
// characters of the id, or the header has members that only it writes, or it is
// an SQLite file. All else is Pi's (package pi). What is known of it was read in
// its source, and not run.
package pirust

import (
	"context"

	"rollcall/adapters"
	"rollcall/adapters/internal/pistore"
)

// Adapter implements adapters.Adapter, adapters.Watcher and adapters.Peeker. It
// keeps what it read of files and processes in memory, never a status.
type Adapter struct {
	store *pistore.Store
}

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Watcher = (*Adapter)(nil)
	_ adapters.Peeker  = (*Adapter)(nil)
)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	return &Adapter{pistore.New(adapters.PiRust, cfg)}
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return a.store.Name() }

// Discover implements adapters.Adapter. Prompts, titles and errors are cut after
// 4 KB. Tokens and cost are exact or not there; with q.Totals every file that is
// answered is read whole once. It is ErrAbsent when neither a process, nor a
// session or an index of its form, is there, whether Pi is or not.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.store.Discover(ctx, q)
}

// WatchPaths implements adapters.Watcher: the session folders, and in them those
// of the working folders of live processes.
func (a *Adapter) WatchPaths() []string { return a.store.WatchPaths() }

// Peek implements adapters.Peeker.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return a.store.Peek(ctx, s, n)
}
