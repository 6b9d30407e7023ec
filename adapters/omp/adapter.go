// Package omp reports the sessions of oh-my-pi (npm @oh-my-pi/pi-coding-agent), a fork of Pi that runs with Bun.
//
// A session is a file of lines, ~/.omp/agent/sessions/<folder>/<time>_<id>.jsonl, with Pi's messages. It is made with the first whole answer, so that a first
// turn is in no file. Which session a process has shows the file that it holds open, or the file of its terminal, which names the session. A call that waits for
// a permission is recorded as one that runs: the status is unknown then, unless the mode of permissions, a command or the terminal's title shows it. Facts were
// learned from 18.2.3 on Linux, run and read.
package omp

import (
	"context"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pistore"
)

const (
	homeVariable = "PI_CODING_AGENT_DIR"
	factsFormat  = 1 // must be raised when the same facts get another meaning
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "omp"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "oh-my-pi", Short: "omp", Folders: []string{".omp"},
	Program: "omp", Install: "npm install -g bun @oh-my-pi/pi-coding-agent", Processes: []string{"omp"}, Runs: finder.Runs,
}, (*Adapter)(nil))

// Adapter implements adapters.Adapter and the optional interfaces that are named below. It is safe for concurrent use. It
// keeps what it read of files in memory, never a status. Prompts and titles are cut after 4 KB.
type Adapter struct {
	*kit.Base
	kit.Poll    // no file shows that a call waits, or that a failed request is given up
	transcripts *kit.Transcripts[facts, *facts]
}

var (
	_ adapters.Watcher      = (*Adapter)(nil)
	_ adapters.ProcessOwner = (*Adapter)(nil)
	_ adapters.Launcher     = (*Adapter)(nil)
	_ adapters.Describer    = (*Adapter)(nil)
	_ adapters.Peeker       = (*Adapter)(nil)
	_ adapters.Searcher     = (*Adapter)(nil)
	_ adapters.Pusher       = (*Adapter)(nil)
)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	return &Adapter{Base: kit.NewBase(cfg, description, agentproc.Own{Variable: homeVariable, Store: ".omp/agent"}),
		transcripts: kit.NewTranscripts[facts](cfg.Facts, Name, factsFormat)}
}

// Discover implements adapters.Adapter.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.Ask(ctx, q, a.look, func(cfg adapters.Config) kit.Looker { return New(cfg).look })
}

// look reads the processes and then the files, once.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := a.begin(ctx, q)
	return d.Run(d.watchPaths, d.list, d.read, d.match, d.readTitles, d.poll, d.addSessions)
}

// poll asks again while a session has an open turn, or a process may begin one.
func (d *discovery) poll() {
	if len(d.Query.IDs) == 0 {
		d.Again(slices.ContainsFunc(d.sessions, func(s *session) bool { return s.owner != nil && s.turn.state != ended }) ||
			slices.ContainsFunc(d.processes, func(p *process) bool { return len(p.sessions) == 0 }))
	}
}

// Peek returns the last n messages of a session that Discover returned. It reads the file from its end.
func (a *Adapter) Peek(ctx context.Context, session adapters.Session, n int) ([]adapters.Message, error) {
	return pistore.Peek(ctx, session, n)
}
