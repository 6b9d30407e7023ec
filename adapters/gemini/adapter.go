// Package gemini reports the sessions of Gemini CLI (npm @google/gemini-cli).
//
// A session is a file below ~/.gemini/tmp/<project>/chats: lines since 0.39, one object before. Its last record shows the
// state of the turn, but not whether a tool that was called runs or waits for the user: the process that the tool runs
// and the title of the terminal show that, or else the status is unknown. Facts were learned from 0.61.0 and 0.29.0 on Linux.
package gemini

import (
	"cmp"
	"context"
	"path/filepath"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
	"rollcall/proc"
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "gemini"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Gemini CLI", Short: "gemini", Folders: []string{folderName},
	HomeFolder: folderName, Program: "gemini", Install: "npm install -g @google/gemini-cli", Processes: agentproc.NamesOf("gemini", "gemini"), Runs: finder.Runs,
	ReasoningApart: true, // 0.61.0: the total of an answer is input, output and thoughts
}, (*Adapter)(nil))

// Adapter implements adapters.Adapter and the optional interfaces that are named below. It is safe for concurrent use. It
// keeps what it read of files in memory, never a status. Prompts and titles are cut after 4 KB.
type Adapter struct {
	*kit.Base
	kit.Poll    // while a call is open, or was until now, no file shows that it starts, waits or is allowed
	transcripts *kit.Transcripts[facts, *facts]
}

var _ interface {
	adapters.Watcher
	adapters.ProcessOwner
	adapters.Launcher
	adapters.Describer
	adapters.Peeker
	adapters.Searcher
	adapters.Pusher
	adapters.Piped
} = (*Adapter)(nil)

const (
	folderName   = ".gemini"
	homeVariable = "GEMINI_CLI_HOME"
	factsFormat  = 5 // must be raised when the same facts get another meaning
)

// node and finder are how the processes of Gemini CLI look (0.29.0, 0.61.0).
var (
	node   = &skeleton.Node{Inner: "GEMINI_CLI_NO_RELAUNCH"}
	finder = &skeleton.Finder{Inspect: node.Inspect, Home: homeOf,
		Program: node.Program("gemini", "gemini-cli", "mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma")}
)

// homeOf returns the home that the variables of an environment name.
func homeOf(env func(string) string, user string) string {
	user = cmp.Or(env(homeVariable), user)
	if user == "" {
		return ""
	}
	return filepath.Join(user, folderName)
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

// look reads the processes and then the files, once.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := a.begin(ctx, q)
	return d.Run(d.watchPaths, d.list, d.read, d.match, d.addSessions)
}
