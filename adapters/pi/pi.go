// Package pi reports the sessions of Pi, the TypeScript coding agent
// (@mariozechner/pi-coding-agent, now @earendil-works/pi-coding-agent).
//
// A session is a JSONL file below ~/.pi/agent/sessions. Its last entry says where
// the turn stands; which process has it follows from the environment of a running
// tool, from the time at which both began, and from the ids, which one process
// numbers. Where that does not decide, the status is unknown and the evidence
// says why. Facts were learned from Pi 1.5.2 and 0.73.1 on Linux.
package pi

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
	return &Adapter{pistore.New(adapters.Pi, cfg)}
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return a.store.Name() }

// Discover implements adapters.Adapter. Prompts, titles and errors are cut after
// 4 KB. Tokens and cost are exact or not there; with q.Totals every file that is
// answered is read whole once. A process that has stored nothing yet is answered
// as a session with an id made from the process, until its own is there.
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
