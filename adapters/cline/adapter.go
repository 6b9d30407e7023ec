// Package cline reports the sessions of the Cline CLI.
//
// A session is a folder below ~/.cline/data/sessions: a small manifest with the status and the pid of the process that hosts the session, and the
// conversation. Both are written again at each change. The database of Cline adds the sub-agents. Any start of Cline also starts a background
// process, the hub, in which later terminals run their sessions; the hub is asked to answer requests, and never signalled.
// Facts were learned from Cline 3.0.57 and 3.0.65 on Linux. The VS Code extension and Cline 2 keep other files, which are not read.
package cline

import (
	"context"
	"net/netip"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
	"rollcall/proc"
)

// Adapter implements adapters.Adapter and the optional interfaces below. It is safe for concurrent use. It
// keeps what it read of files in memory, never a status. Prompts and titles are cut after 4 KB.
type Adapter struct {
	*kit.Base
	serves      func(netip.AddrPort, proc.Identity) error // reports with an error that an address is not served by a process
	transcripts *kit.Transcripts[facts, *facts]
	databases   sqlitero.Cache[[]manifest]
}

var _ interface {
	adapters.Describer
	adapters.Watcher
	adapters.ProcessOwner
	adapters.Peeker
	adapters.Searcher
	adapters.Launcher
	adapters.Ender
	adapters.Answerer
	adapters.Prompter
	adapters.Stopper
	adapters.StopChecker
} = (*Adapter)(nil)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "cline"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Cline", Short: "cline", Folders: []string{".cline"},
	HomeFolder: "data", Program: "cline", Install: "npm install -g cline", Processes: agentproc.NamesOf("cline", "cline"), Runs: finder.Runs,
}, (*Adapter)(nil))

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	a := &Adapter{serves: proc.CheckListenedBy, transcripts: kit.NewTranscripts[facts](cfg.Facts, Name, factsFormat), Base: kit.NewBase(cfg, description, agentproc.Own{Variable: dirVariable, Store: ".cline"},
		agentproc.Own{Variable: dataVariable}, agentproc.Own{Variable: sessionsVariable}, agentproc.Own{Variable: databasesVariable})}
	named := a.Named
	a.Named = func() (list []string) {
		for _, path := range named() {
			list = append(list, dataIn(path))
		}
		return list
	}
	return a
}

// Discover implements adapters.Adapter.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.Ask(ctx, q, a.look, func(cfg adapters.Config) kit.Looker { return New(cfg).look })
}
