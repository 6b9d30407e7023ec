// Package cline reports the sessions of the Cline CLI.
//
// A session is a folder below ~/.cline/data/sessions: a small manifest with the status and the pid of
// the process that hosts the session, and the conversation. Both are written again at each change. The
// database of Cline adds the sub-agents. Any start of Cline also starts a background process, the hub,
// in which later terminals run their sessions; the hub is asked to answer requests, and never signalled.
//
// Facts were learned from Cline 3.0.57 and 3.0.65 on Linux. The VS Code extension and Cline 2 keep other
// files, which are not read.
package cline

import (
	"context"
	"net/netip"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// Adapter implements adapters.Adapter and the optional interfaces below. It is safe for concurrent use. It
// keeps what it read of files in memory, never a status. Prompts and titles are cut after 4 KB.
type Adapter struct {
	home  string
	env   func(string) string
	table proc.Lister
	now   func() time.Time
	named func() []string // homes that the user named
	// serves reports with an error that an address is not served by a process.
	serves func(netip.AddrPort, proc.Identity) error

	homes   *kit.Recent // homes that processes named
	current kit.List
	watch   kit.Watch

	manifests     kit.Memo[string, kept[manifest]]
	conversations kit.Memo[string, kept[conversation]]
	databases     kit.Memo[string, database]
}

var (
	_ adapters.Adapter      = (*Adapter)(nil)
	_ adapters.Describer    = (*Adapter)(nil)
	_ adapters.Watcher      = (*Adapter)(nil)
	_ adapters.ProcessOwner = (*Adapter)(nil)
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "cline"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Cline", Short: "cline",
	HomeFolder: "data", Program: "cline", Install: "npm install -g cline", Processes: []string{"cline"},
}, (*Adapter)(nil))

// ownPlaces are the folder of the agent and the variables that name others.
var ownPlaces = []agentproc.Own{{Variable: "CLINE_DIR", Store: ".cline"}, {Variable: "CLINE_DATA_DIR"}, {Variable: "CLINE_SESSION_DATA_DIR"}, {Variable: "CLINE_DB_DATA_DIR"}}

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	cfg = cfg.WithDefaults()
	return &Adapter{home: cfg.Home, env: cfg.Env, table: agentproc.Table(cfg.Table, cfg.Home, ownPlaces...), now: cfg.Now, named: cfg.Homes,
		homes: kit.NewRecent(cfg.Places, Name), serves: proc.CheckListenedBy}
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return Name }

// Describe implements adapters.Describer.
func (a *Adapter) Describe() adapters.Description { return description }

// Discover implements adapters.Adapter.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.current.Ask(ctx, func(ctx context.Context, data string) {
		_, _ = New(kit.Config(data, a.table)).look(ctx, kit.Query(q))
	}, func() (adapters.Roll, error) {
		return agentproc.Ask(ctx, a.table, func() (adapters.Roll, error) { return a.look(ctx, q) })
	})
}

// WatchPaths implements adapters.Watcher: the folders of live sessions, in which every step writes a file, and
// those in which new ones appear.
func (a *Adapter) WatchPaths() []string {
	if known := a.watch.Folders(); known != nil {
		return kit.Folders(known)
	}
	var paths []string
	for _, r := range a.roots(nil, kit.NewAnswer()) {
		paths = append(paths, r.watched()...)
	}
	return kit.Folders(paths)
}
