// Package pistore reads the session store that Pi (badlogic's and earendil's TypeScript
// agent) and pi_agent_rust share, for the adapters of both.
//
// Every session of the store belongs to one of the agents: see writer. Both adapters
// read the same files and the same processes and find the same process for each
// session; each adapter then reports its own sessions only.
//
// Facts were learned from Pi 1.6.0, 1.5.2 and 0.73.1 on Linux, run against a model server, and
// from the source of pi_agent_rust, which was read and not run.
package pistore

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
	"rollcall/proc"
)

// factsFormat must be raised when the same facts get another meaning.
const factsFormat = 5

// The two agents.
const (
	Pi     adapters.Name = "pi"
	PiRust adapters.Name = "pi-rust"
)

// Store is the adapter of one of the two agents. It is safe for concurrent use. It
// keeps what it read of files and of processes' environments in memory, never a status.
type Store struct {
	name  adapters.Name
	home  string
	env   func(string) string
	table proc.Lister
	now   func() time.Time
	named func() []string // agents' folders that the user named

	mu          sync.Mutex
	transcripts *kit.Transcripts[facts, *facts]
	databases   sqlitero.Cache[facts]
	seen        map[proc.Identity]*process // the constant details of live processes
	watch       []string
	homes       *kit.Recent // folders that processes named
	current     kit.List
	// hadRust reports that the store contains, or contained, files of pi_agent_rust.
	hadRust    bool
	listedOnce bool // all folders were listed before
}

var _ interface {
	adapters.Watcher
	adapters.ProcessOwner
	adapters.Peeker
	adapters.Searcher
} = (*Store)(nil)

// New makes the store of one agent, Pi or PiRust. It reads
// nothing yet.
func New(name adapters.Name, cfg adapters.Config) *Store {
	cfg = cfg.WithDefaults()
	return &Store{name: name, home: cfg.Home, env: cfg.Env, table: agentproc.Table(cfg.Table, cfg.Home), now: cfg.Now, named: cfg.Homes,
		homes: kit.NewRecent(cfg.Places, name),
		transcripts: kit.NewTranscripts[facts](cfg.Facts, Pi, factsFormat), // of both agents, which read the same files
		seen:  map[proc.Identity]*process{}}
}

// Name returns the agent's name.
func (s *Store) Name() adapters.Name { return s.name }

// Discover implements adapters.Adapter for the agent. Prompts, titles and errors are
// cut after 4 KB. Tokens and cost are exact or missing.
func (s *Store) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return s.current.Ask(ctx, func(ctx context.Context, root string) {
		_, _ = New(s.name, kit.Config(filepath.Dir(root), s.table)).look(ctx, kit.Query(q))
	}, func() (adapters.Roll, error) {
		return agentproc.Ask(ctx, s.table, func() (adapters.Roll, error) { return s.look(ctx, q) })
	})
}

// look reads the processes and files once. When only live sessions are asked for, it
// reads the folders of live processes, and all others only if one of these processes
// has no session there.
func (s *Store) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := s.begin(ctx, q)
	if s.name == Pi && d.absent() {
		return d.answer.Absent()
	}
	if d.liveOnly() {
		part := *d
		part.answer = d.answer.Clone()
		part.listLive()
		part.readLive()
		if part.match(); len(part.sessionless) == 0 && !part.unlisted {
			return part.finish()
		}
	}
	for _, r := range d.roots {
		d.list(r)
	}
	d.listed = true
	d.readLive()
	d.match()
	d.readRequested()
	return d.finish()
}

// begin starts a call: it reads the processes, and finds the folders to look in.
func (s *Store) begin(ctx context.Context, q adapters.Query) *discovery {
	s.mu.Lock()
	d := &discovery{store: s, ctx: ctx, query: q, now: s.now(), hasRust: s.hadRust, before: s.listedOnce, answer: kit.NewAnswer()}
	s.mu.Unlock()
	d.takeCensus()
	d.findRoots()
	return d
}

// finish returns the answer.
func (d *discovery) finish() (adapters.Roll, error) {
	d.addSessions()
	d.answer.NotRead(d.lateIn, "sessions", d.late, d.found)
	d.remember()
	d.store.transcripts.End(&d.query)
	if d.query.Once { // the cache only saves reading at the next call
		d.store.databases.Forget()
	}
	if d.store.name == PiRust && d.absent() && d.ctx.Err() == nil {
		return d.answer.Absent()
	}
	d.answer.Problem(d.storeProblems...)
	return d.answer.Result(d.ctx, string(d.store.name))
}

// WatchPaths returns the folders in which sessions of live processes are written
// and in which new ones appear.
func (s *Store) WatchPaths() []string {
	s.mu.Lock()
	known := s.watch
	s.mu.Unlock()
	if known == nil {
		d := &discovery{store: s, ctx: context.Background(), now: s.now(), answer: kit.NewAnswer()}
		d.findRoots()
		known = d.watchPaths()
	}
	return kit.Folders(known)
}
