// Package pistore reads the session store that Pi (badlogic's and earendil's
// TypeScript agent) and pi_agent_rust share, for the adapters of both.
//
// Every session of the store is one agent's: see writer. Both adapters look at
// the same files and the same processes and come to the same answer about which
// process has which session; each then tells of its own sessions only.
//
// Facts were learned from Pi 1.5.2 and 0.73.1 on Linux, run against a model
// server, and from the source of pi_agent_rust, which was read and not run.
package pistore

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/steady"
	"rollcall/proc"
)

// Store answers for one of the two agents. It is safe for concurrent use. It
// keeps what it read of files and of processes' environments in memory, never a
// status.
type Store struct {
	name  adapters.Name
	home  string
	env   func(string) string
	table proc.Lister
	now   func() time.Time

	mu    sync.Mutex
	cache cache
	seen  map[proc.Identity]*process // what doesn't change of live processes
	held  map[proc.Identity]held     // which session each was last surely seen with
	watch []string
	// rustSeen: the store has, or had, something of pi_agent_rust.
	rustSeen   bool
	listedOnce bool // all folders were listed before
}

// New makes the store of one agent, adapters.Pi or adapters.PiRust. It reads
// nothing yet.
func New(name adapters.Name, cfg adapters.Config) *Store {
	cfg = cfg.WithDefaults()
	return &Store{name: name, home: cfg.Home, env: cfg.Env, table: cfg.Table, now: cfg.Now,
		seen: map[proc.Identity]*process{}, held: map[proc.Identity]held{}}
}

// Name returns the agent's name.
func (s *Store) Name() adapters.Name { return s.name }

// Discover answers for the agent. Prompts, titles and errors are cut after 4 KB.
// Tokens and cost are exact or not there; with q.Totals every file that is
// answered is read whole once.
func (s *Store) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return steady.Ask(ctx, func() (adapters.Roll, error) { return s.look(ctx, q) })
}

// look answers once. When only live sessions are asked for, the folders of live
// processes are enough, unless one of them has no session there.
func (s *Store) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := s.begin(ctx, q)
	d.takeCensus()
	d.findRoots()
	if s.name == adapters.Pi && d.absent() {
		return adapters.Roll{LookedIn: d.roll.LookedIn}, adapters.ErrAbsent
	}
	if d.liveOnly() {
		part := *d
		part.listLive()
		part.readLive()
		if part.match(); len(part.loose) == 0 {
			return part.finish()
		}
		clear(d.roll.Skipped)
	}
	for _, r := range d.roots {
		d.list(r)
	}
	d.listed = true
	d.readLive()
	d.match()
	d.readAsked()
	return d.finish()
}

func (s *Store) begin(ctx context.Context, q adapters.Query) *discovery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &discovery{Store: s, ctx: ctx, query: q, at: s.now(), rust: s.rustSeen, before: s.listedOnce,
		roll: adapters.Roll{Versions: map[string]int{}, Skipped: map[string]int{}}}
}

// finish makes the answer.
func (d *discovery) finish() (adapters.Roll, error) {
	d.answer()
	d.remember()
	err := d.ctx.Err()
	if d.name == adapters.PiRust && d.absent() && err == nil {
		return adapters.Roll{LookedIn: d.roll.LookedIn}, adapters.ErrAbsent
	}
	d.problems = append(d.problems, d.shared...)
	if err != nil {
		d.problem(&adapters.Problem{Kind: adapters.ErrTimeout, Path: string(d.name), Err: err})
	}
	return d.roll, errors.Join(d.problems...)
}

// WatchPaths returns the folders in which sessions of live processes are written
// and in which new ones appear.
func (s *Store) WatchPaths() []string {
	s.mu.Lock()
	known := s.watch
	s.mu.Unlock()
	if known == nil {
		d := &discovery{Store: s, ctx: context.Background(), at: s.now()}
		d.findRoots()
		known = d.watchPaths()
	}
	var there []string
	for _, path := range known {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			there = append(there, path)
		}
	}
	return there
}
