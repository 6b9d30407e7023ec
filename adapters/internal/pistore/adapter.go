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

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// factsFormat must be raised when the same facts get another meaning.
const factsFormat = 5

// The two agents.
const (
	Pi     adapters.Name = "pi"
	PiRust adapters.Name = "pi-rust"
)

// Store is the adapter of one of the two agents. It is safe for concurrent use. It
// keeps what it read of files in memory, never a status.
type Store struct {
	*kit.Base
	transcripts *kit.Transcripts[facts, *facts]
}

var _ interface {
	adapters.Watcher
	adapters.ProcessOwner
	adapters.Peeker
	adapters.Searcher
} = (*Store)(nil)

// New makes the store of one agent, Pi or PiRust. It reads
// nothing yet.
func New(d adapters.Description, cfg adapters.Config) *Store {
	return &Store{Base: kit.NewBase(cfg, d), transcripts: kit.NewTranscripts[facts](cfg.Facts, Pi, factsFormat)} // both agents read the same files
}

// Discover implements adapters.Adapter for the agent. Prompts, titles and errors are
// cut after 4 KB. Tokens and cost are exact or missing.
func (s *Store) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return s.Ask(ctx, q, s.look, func(cfg adapters.Config) kit.Looker { return New(s.Describe(), cfg).look })
}

// look reads the processes and files once.
func (s *Store) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := s.begin(ctx, q)
	if s.Name() == Pi && d.absent() {
		return d.answer.Absent()
	}
	d.list()
	d.readLive()
	d.match()
	d.readRequested()
	return d.finish()
}

// begin starts a call: it reads the processes, and finds the folders to look in.
func (s *Store) begin(ctx context.Context, q adapters.Query) *discovery {
	d := s.discovery(ctx, q)
	d.takeCensus()
	d.findRoots()
	return d
}

func (s *Store) discovery(ctx context.Context, q adapters.Query) *discovery {
	answer := kit.NewAnswer()
	return &discovery{store: s, ctx: ctx, query: q, now: s.Now(), answer: answer, roots: kit.Roots{Answer: answer}}
}

// finish returns the answer.
func (d *discovery) finish() (adapters.Roll, error) {
	d.addSessions()
	d.answer.NotRead(d.lateIn, "sessions", d.late, d.found)
	d.store.Watch.Set(d.watchPaths())
	d.store.transcripts.End(&d.query)
	if d.store.Name() == PiRust && d.absent() && d.ctx.Err() == nil {
		return d.answer.Absent()
	}
	return d.answer.Result(d.ctx, string(d.store.Name()))
}
