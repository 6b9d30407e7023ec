// Package grok reports the sessions of Grok Build (npm @xai-official/grok).
//
// A session is a folder below ~/.grok/sessions, whose events.jsonl shows the state of the turn, also that it waits for the user. The process of a session
// holds that file open from before the first prompt to its end; a registry names it as well. Facts were learned from 1.0.41 on Linux.
package grok

import (
	"context"
	"path/filepath"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "grok"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Grok Build", Short: "grok", Folders: []string{folderName},
	Program: "grok", Install: "npm install -g @xai-official/grok", Processes: []string{"grok", "grok-native"},
	Children: adapters.ChildVariables{Session: "GROK_SESSION_ID"}, Runs: finder.Runs,
}, (*Adapter)(nil))

// Adapter implements adapters.Adapter, and what adapters.Description.Can says. It is safe for concurrent use. It keeps what it read of files in memory, never a
// status. Prompts, titles and errors are cut after 4 KB.
type Adapter struct {
	*kit.Base
	events    *kit.Transcripts[events, *events]
	updates   *kit.Transcripts[updates, *updates]
	summaries *kit.Transcripts[summary, *summary]
	logs      *kit.Transcripts[journal, *journal]
}

const (
	folderName   = ".grok"
	homeVariable = "GROK_HOME"
	factsFormat  = 2 // must be raised when the same facts get another meaning
)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	return &Adapter{Base: kit.NewBase(cfg, description, agentproc.Own{Variable: homeVariable, Store: folderName}),
		events:    kit.NewTranscripts[events](cfg.Facts, Name, factsFormat),
		updates:   kit.NewTranscripts[updates](cfg.Facts, Name+"-updates", factsFormat),
		summaries: kit.NewTranscripts[summary](cfg.Facts, Name+"-summary", factsFormat),
		logs:      kit.NewTranscripts[journal](cfg.Facts, Name+"-log", factsFormat)}
}

// homeOf returns the home that an environment names. It is relative where user, the user's home folder, is not known.
func homeOf(env func(string) string, user string) string {
	if dir := env(homeVariable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(user, folderName)
}

// Discover implements adapters.Adapter.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.Ask(ctx, q, a.look, func(cfg adapters.Config) kit.Looker { return New(cfg).look })
}

// look reads the processes and then the files, once.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := a.begin(ctx, q)
	return d.Run(d.watchPaths, d.list, d.match, d.read, d.addSessions)
}
