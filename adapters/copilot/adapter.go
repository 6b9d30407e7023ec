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

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// Adapter implements adapters.Adapter and the optional interfaces below. It keeps what it read of files in memory, never a
// status. Prompts, titles and errors are cut after 4 KB. Tokens are exact or missing.
type Adapter struct {
	*kit.Base
	transcripts *kit.Transcripts[facts, *facts]
}

var _ interface {
	adapters.Adapter
	adapters.Describer
	adapters.Watcher
	adapters.ProcessOwner
	adapters.Peeker
	adapters.Searcher
	adapters.Launcher
	adapters.Piped
	adapters.FailureReader
} = (*Adapter)(nil)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "copilot"

// Copilot's processes have the name of Node.js's main thread on Linux, which other programs have as well: only the name on
// other systems is Copilot's own.
var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Copilot CLI", Short: "co", Folders: []string{".copilot"},
	Program: "copilot", Install: "npm install -g @github/copilot", Processes: agentproc.NamesOf("copilot", "copilot"),
	Children: adapters.ChildVariables{Session: sessionVariable, OfCommands: true, Shell: []string{"--norc", "--noprofile", "-c"}, TurnFollows: true}, Runs: finder.Runs,
}, (*Adapter)(nil))

const (
	homeVariable = "COPILOT_HOME"
	folderName   = ".copilot"
	factsFormat  = 4 // must be raised when the same facts get another meaning
)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	return &Adapter{Base: kit.NewBase(cfg, description, agentproc.Own{Variable: homeVariable, Store: folderName}),
		transcripts: kit.NewTranscripts[facts](cfg.Facts, Name, factsFormat)}
}

// Discover implements adapters.Adapter. A session's file is read whole once, and then what is added to it.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.Ask(ctx, q, a.look, func(cfg adapters.Config) kit.Looker { return New(cfg).look })
}

// look reads the processes, and then the files of the sessions that they have and of those that the query asks for.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := a.begin(ctx, q)
	return d.Run(d.watchPaths, d.list, d.assign, d.read, d.addSessions, d.addProcesses)
}

// begin starts a call: it reads the processes, and finds the homes to look in.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{Adapter: a, Look: skeleton.Begin(ctx, a.Base, q, "session-state"), owners: map[place][]*process{}, makers: map[place]maker{}}
	d.takeCensus()
	return d
}

// homeOf returns the home that the variables of an environment name.
func homeOf(env func(string) string, user string) string {
	if dir := env(homeVariable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	if !filepath.IsAbs(user) {
		return ""
	}
	return filepath.Join(user, folderName)
}

// folders of a home
func store(root string) string { return filepath.Join(root, "session-state") }
