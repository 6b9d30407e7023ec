// Package kimi reports the sessions of Kimi Code (npm @moonshot-ai/kimi-code).
//
// A session is a folder below ~/.kimi-code/sessions, with the records of its main agent and of each sub-agent, which show the state of a turn, and each request
// for the user, exactly. No file names the process of a session: it is found by the folder, the times, the command that runs, and what was typed in the
// folder's terminals, or else the status is unknown. Facts were learned from 2.1.0 on Linux.
package kimi

import (
	"context"
	"net/netip"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "kimi"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Kimi Code", Short: "kimi", Folders: []string{folderName},
	Program: "kimi", Install: "npm install -g @moonshot-ai/kimi-code", Processes: []string{title}, Runs: finder.Runs,
}, (*Adapter)(nil))

// Adapter implements adapters.Adapter and the optional interfaces that are named below. It is safe for concurrent use. It
// keeps what it read of files in memory, never a status. Prompts and titles are cut after 4 KB.
type Adapter struct {
	*kit.Base
	transcripts *kit.Transcripts[facts, *facts]
	serves      func(netip.AddrPort, proc.Identity) error // reports with an error that an address is not served by a process
}

var (
	_ adapters.Watcher       = (*Adapter)(nil)
	_ adapters.ProcessOwner  = (*Adapter)(nil)
	_ adapters.Launcher      = (*Adapter)(nil)
	_ adapters.Describer     = (*Adapter)(nil)
	_ adapters.Peeker        = (*Adapter)(nil)
	_ adapters.Searcher      = (*Adapter)(nil)
	_ adapters.FailureReader = (*Adapter)(nil)
)

const (
	folderName   = ".kimi-code"
	homeVariable = "KIMI_CODE_HOME"
	factsFormat  = 1 // must be raised when the same facts get another meaning
)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	return &Adapter{Base: kit.NewBase(cfg, description, agentproc.Own{Variable: homeVariable, Store: folderName}),
		transcripts: kit.NewTranscripts[facts](cfg.Facts, Name, factsFormat), serves: proc.CheckListenedBy}
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
