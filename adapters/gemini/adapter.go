// Package gemini reports the sessions of Gemini CLI (npm @google/gemini-cli).
//
// A session is a file below ~/.gemini/tmp/<project>/chats: lines since 0.39, one object before. Its last record shows the
// state of the turn, but not whether a tool that was called runs or waits for the user: the process that the tool runs
// and the title of the terminal show that, or else the status is unknown. Facts were learned from 0.61.0 and 0.29.0 on Linux.
package gemini

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/factcache"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "gemini"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Gemini CLI", Short: "gemini",
	HomeFolder: folderName, Program: "gemini", Install: "npm install -g @google/gemini-cli", Processes: []string{"gemini"},
}, (*Adapter)(nil))

// Adapter implements adapters.Adapter and the optional interfaces that are named below. It is safe for concurrent use. It
// keeps what it read of files in memory, never a status. Prompts and titles are cut after 4 KB.
type Adapter struct {
	home  string
	env   func(string) string
	table proc.Lister
	now   func() time.Time
	named func() []string

	mu          sync.Mutex
	transcripts agentfile.Cache[*transcript]
	saved       *factcache.Facts[savedTranscript]
	homes       *kit.Recent
	current     kit.List
	watch       kit.Watch
	again       atomic.Bool // the last answer may change although no file does
}

var (
	_ adapters.Watcher      = (*Adapter)(nil)
	_ adapters.ProcessOwner = (*Adapter)(nil)
	_ adapters.Launcher     = (*Adapter)(nil)
	_ adapters.Describer    = (*Adapter)(nil)
	_ adapters.Peeker       = (*Adapter)(nil)
	_ adapters.Searcher     = (*Adapter)(nil)
	_ adapters.Pusher       = (*Adapter)(nil)
	_ adapters.Piped        = (*Adapter)(nil)
)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	cfg = cfg.WithDefaults()
	return &Adapter{home: cfg.Home, env: cfg.Env, table: agentproc.Table(cfg.Table, cfg.Home, agentproc.Own{Variable: homeVariable, Store: folderName}), now: cfg.Now, named: cfg.Homes,
		saved: factcache.Of[savedTranscript](cfg.Facts, string(Name), factsFormat), homes: kit.NewRecent(cfg.Places, Name)}
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return Name }

// Describe implements adapters.Describer.
func (a *Adapter) Describe() adapters.Description { return description }

// Discover implements adapters.Adapter.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.current.Ask(ctx, func(ctx context.Context, home string) {
		_, _ = New(kit.Config(home, a.table)).look(ctx, kit.Query(q))
	}, func() (adapters.Roll, error) {
		return agentproc.Ask(ctx, a.table, func() (adapters.Roll, error) { return a.look(ctx, q) })
	})
}

// look reads the processes and then the files, once.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := a.begin(ctx, q)
	if d.absent() {
		return d.answer.Absent()
	}
	for _, home := range d.homes {
		d.list(home)
	}
	d.read()
	d.match()
	d.addSessions()
	d.answer.NotRead(d.lateIn, "sessions", d.late, len(d.sessions)+d.late)
	a.watch.Set(d.watchPaths())
	a.saved.Flush(q.Once)
	a.mu.Lock()
	if a.transcripts.Trim(); q.Once {
		a.transcripts = agentfile.Cache[*transcript]{}
	}
	a.mu.Unlock()
	return d.answer.Result(ctx, string(Name))
}

// begin starts a question: it reads the processes, and finds the homes.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{adapter: a, ctx: ctx, query: q, now: a.now(), answer: kit.NewAnswer(), byID: map[string]*session{}, slugs: map[string]map[string]string{}}
	d.readProcesses()
	d.findHomes()
	return d
}

// WatchPaths implements adapters.Watcher: the folders in which sessions and prompts are written.
func (a *Adapter) WatchPaths() []string {
	if known := a.watch.Folders(); len(known) > 0 {
		return known
	}
	d := a.begin(context.Background(), adapters.Query{})
	for _, home := range d.homes {
		d.list(home)
	}
	return kit.Folders(d.watchPaths())
}

func (a *Adapter) transcript(path string, once bool) *transcript {
	fresh := func(path string) *transcript { return newTranscript(path, a.saved) }
	if once {
		return fresh(path)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.transcripts.Get(path, fresh)
}
