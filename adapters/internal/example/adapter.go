// Package example is the adapter of docs/adding-an-agent.md: a small but complete one, for an
// agent that exists only in tests. It has the shape of the adapters of agents with files in a home, passes the conformance suite, and is not part of the
// program.
//
// The agent keeps one file per session, ~/.example/sessions/<id>.jsonl, or below $EXAMPLE_HOME, and appends one record
// per line: session, process, prompt, ask, answer. The record "process" has the pid and start
// time of each process that opens or resumes the session.
package example

import (
	"context"
	"path/filepath"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
	"rollcall/proc"
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "example"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Example", Short: "ex", Folders: []string{folderName},
	Program: "example", Install: "npm install -g example-agent", Processes: []string{"example"},
}, (*Adapter)(nil))

// Adapter implements adapters.Adapter and the optional interfaces below. It
// keeps what it read of files in memory, never a status.
type Adapter struct {
	*kit.Base
	transcripts *kit.Transcripts[facts, *facts]
}

var _ interface {
	adapters.Describer
	adapters.Watcher
	adapters.ProcessOwner
	adapters.Peeker
	adapters.Searcher
	adapters.Launcher
} = (*Adapter)(nil)

const (
	folderName   = ".example"
	homeVariable = "EXAMPLE_HOME"
	factsFormat  = 1 // must be raised when the same facts get another meaning
)

// finder finds the processes of the agent: a native program, whose sub-command "update" holds no conversation.
var finder = &skeleton.Finder{Home: homeOf, Program: agentproc.Program{Names: []string{"example"}, Commands: []string{"update"}}}

// homeOf returns the home that the variables of an environment name. user is the user's home folder, and empty where it is not known.
func homeOf(env func(string) string, user string) string {
	home := env(homeVariable)
	if home == "" && user != "" {
		home = filepath.Join(user, folderName)
	}
	return home
}

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	return &Adapter{Base: kit.NewBase(cfg, description, agentproc.Own{Variable: homeVariable, Store: folderName}),
		transcripts: kit.NewTranscripts[facts](cfg.Facts, Name, factsFormat)}
}

// OwnsProcess implements adapters.ProcessOwner.
func (a *Adapter) OwnsProcess(row proc.Process) bool { return finder.Owns(a.Base, row) }

// Discover implements adapters.Adapter.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.Ask(ctx, q, a.look, func(cfg adapters.Config) kit.Looker { return New(cfg).look })
}

// look reads the processes first and the files after them. Ask repeats it
// when a session changed in between.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := a.begin(ctx, q)
	return d.Run(d.Watched, d.list, d.read, d.match, d.addSessions)
}
