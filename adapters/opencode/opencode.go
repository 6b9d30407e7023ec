// Package opencode reports the sessions of OpenCode.
//
// A session is a row of OpenCode's database (JSON files up to 1.1), and what it
// does is told by its last messages. Which process runs it stands nowhere: it is
// found by command lines, logs and folders, and where these leave a doubt the
// status is unknown. A server on loopback is asked what it knows beyond that.
//
// Facts were learned on Linux from OpenCode 1.0.185, 1.1.65, 1.2.6, 1.2.27, 1.3.2,
// 1.14.41, 1.15.4, 1.17.11, 1.18.3 and 1.18.33.
package opencode

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/steady"
	"rollcall/proc"
)

// Adapter implements adapters.Adapter, Watcher, Peeker and Stopper. It keeps the
// facts of stores that did not change in memory, never a status.
type Adapter struct {
	home  string
	env   func(string) string
	table proc.Lister
	now   func() time.Time

	databases databases
	files     files
	logs      logs
	memory    memory

	mu    sync.Mutex
	watch []string
}

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Watcher = (*Adapter)(nil)
	_ adapters.Peeker  = (*Adapter)(nil)
	_ adapters.Stopper = (*Adapter)(nil)
)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	cfg = cfg.WithDefaults()
	return &Adapter{home: cfg.Home, env: cfg.Env, table: cfg.Table, now: cfg.Now}
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return adapters.OpenCode }

// Discover implements adapters.Adapter. Query.Totals matters for stores of
// versions up to 1.14, which keep no sums: there Tokens are nil for sessions of
// many messages until they are asked for. Tokens of a fork include those of the
// messages that it copied, as OpenCode itself counts. Prompts, titles and errors
// are cut at 4 KiB. Servers that do not answer cost a second at most.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return steady.Ask(ctx, func() (adapters.Roll, error) { return a.look(ctx, q).answer(ctx) })
}

// look is one look at everything.
func (a *Adapter) look(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{Adapter: a, query: q, now: a.now(), roll: adapters.Roll{
		Versions: map[string]int{}, Skipped: map[string]int{},
	}}
	census, err := takeCensus(ctx, a.table, d.now)
	if err != nil {
		d.problem(&adapters.Problem{Kind: adapters.ErrUnreadable, Path: "process table", Err: err,
			Fix: "without it, nobody knows which sessions run"})
	}
	d.census, d.blind = census, err != nil && census.processes == 0
	roots, looked, problems := a.roots(census)
	d.roll.LookedIn = looked
	d.problem(problems...)
	d.absent = len(roots) == 0 && len(census.hosts) == 0 && len(d.problems) == 0
	for _, r := range roots {
		d.root(ctx, r)
	}
	return d
}

// answer is what Discover returns.
func (d *discovery) answer(ctx context.Context) (adapters.Roll, error) {
	if d.absent {
		return d.roll, adapters.ErrAbsent
	}
	if ctx.Err() != nil {
		d.problem(&adapters.Problem{Kind: adapters.ErrTimeout, Path: "OpenCode", Err: ctx.Err()})
	}
	d.setWatch(d.watch)
	return d.roll, errors.Join(d.problems...)
}

// WatchPaths implements adapters.Watcher: the folder of the database and its
// write-ahead log, that of the logs, and for the JSON store the folders of the
// sessions and the messages of those that live; never the parts.
func (a *Adapter) WatchPaths() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.watch)
}

func (a *Adapter) setWatch(paths []string) {
	var existing []string
	for _, p := range paths {
		if fi, err := os.Stat(p); err == nil && fi.IsDir() {
			existing = appendNew(existing, p)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch = existing
}

// asProblem says of a read that failed, what of, and of one that ran out of time
// that it did.
func asProblem(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return &adapters.Problem{Kind: adapters.ErrTimeout, Path: path, Err: ctx.Err()}
	}
	return adapters.Unreadable(path, err)
}

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
