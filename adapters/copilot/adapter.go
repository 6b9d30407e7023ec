// Package copilot reports the sessions of GitHub Copilot CLI (npm @github/copilot).
//
// A session is a folder below ~/.copilot/session-state, whose events.jsonl has a record for each step. The process of a
// session holds a file of that folder locked, or is named by a file there. A running process always counts as the session's
// only if it is Copilot's own program. Facts were learned from Copilot CLI 1.0.102 and 1.0.34 on Linux, and from the schema
// of the records that 1.0.102 has in its package.
package copilot

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/factcache"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// Adapter implements adapters.Adapter and the optional interfaces below. It keeps what it read of files in memory, never a
// status. Prompts, titles and errors are cut after 4 KB. Tokens are exact or missing.
type Adapter struct {
	home  string
	env   func(string) string
	table proc.Lister
	now   func() time.Time
	named func() []string // homes that the user named

	mu          sync.Mutex
	transcripts agentfile.Cache[*transcript]
	saved       *factcache.Facts[savedTranscript]
	homes       *kit.Recent // homes that processes named
	current     kit.List
	watch       kit.Watch
}

var (
	_ adapters.Adapter       = (*Adapter)(nil)
	_ adapters.Describer     = (*Adapter)(nil)
	_ adapters.Watcher       = (*Adapter)(nil)
	_ adapters.ProcessOwner  = (*Adapter)(nil)
	_ adapters.Peeker        = (*Adapter)(nil)
	_ adapters.Searcher      = (*Adapter)(nil)
	_ adapters.Launcher      = (*Adapter)(nil)
	_ adapters.Piped         = (*Adapter)(nil)
	_ adapters.FailureReader = (*Adapter)(nil)
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "copilot"

// Copilot's processes have the name of Node.js's main thread on Linux, which other programs have as well: only the name on
// other systems is Copilot's own.
var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Copilot CLI", Short: "co",
	Program: "copilot", Install: "npm install -g @github/copilot", Processes: []string{"copilot"},
}, (*Adapter)(nil))

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	cfg = cfg.WithDefaults()
	return &Adapter{home: cfg.Home, env: cfg.Env, table: agentproc.Table(cfg.Table, cfg.Home, agentproc.Own{Variable: homeVariable, Store: ".copilot"}), now: cfg.Now, named: cfg.Homes,
		homes: kit.NewRecent(cfg.Places, Name), saved: factcache.Of[savedTranscript](cfg.Facts, factsName, factsFormat)}
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return Name }

// Describe implements adapters.Describer.
func (a *Adapter) Describe() adapters.Description { return description }

// WatchPaths implements adapters.Watcher: a session is a new folder in session-state, and each of its steps is appended to a
// file in that folder.
func (a *Adapter) WatchPaths() []string {
	if known := a.watch.Folders(); len(known) > 0 {
		return kit.Folders(known)
	}
	d := a.begin(context.Background(), adapters.Query{})
	return kit.Folders(d.watchPaths())
}

// Discover implements adapters.Adapter. A session's file is read whole once, and then what is added to it.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.current.Ask(ctx, func(ctx context.Context, home string) {
		_, _ = New(kit.Config(home, a.table)).look(ctx, kit.Query(q))
	}, func() (adapters.Roll, error) {
		return agentproc.Ask(ctx, a.table, func() (adapters.Roll, error) { return a.look(ctx, q) })
	})
}

// look reads the processes, and then the files of the sessions that they have and of those that the query asks for.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := a.begin(ctx, q)
	if d.absent() {
		return d.answer.Absent()
	}
	d.list()
	d.assign()
	d.read()
	d.addSessions()
	d.addProcesses()
	a.watch.Set(d.watchPaths())
	a.saved.Flush(q.Once)
	a.mu.Lock()
	if a.transcripts.Trim(); q.Once {
		a.transcripts = agentfile.Cache[*transcript]{}
	}
	a.mu.Unlock()
	return d.answer.Result(ctx, description.Title)
}

// begin starts a call: it reads the processes, and finds the homes to look in.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{Adapter: a, ctx: ctx, query: q, now: a.now(), answer: kit.NewAnswer(), owners: map[place][]*process{}}
	d.takeCensus()
	d.findRoots()
	return d
}

// folders of a home
func store(root string) string { return filepath.Join(root, "session-state") }
