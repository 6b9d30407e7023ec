// Package pi reports the sessions of Pi, the TypeScript coding agent
// (@mariozechner/pi-coding-agent, now @earendil-works/pi-coding-agent).
//
// A session is a JSONL file below ~/.pi/agent/sessions. Its last entry shows the state
// of the turn. The process of a session is found by the environment of a running tool,
// by the times at which both began, and by the ids, which a process numbers. Where
// these do not decide, the status is unknown and the evidence gives the reason. Facts
// were learned from Pi 1.6.0, 1.5.2 and 0.73.1 on Linux.
package pi

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/pistore"
)

// Adapter implements adapters.Adapter, adapters.Watcher, adapters.ProcessOwner,
// adapters.Peeker and adapters.Searcher. It keeps what it read of files and processes in memory, never a
// status.
//
// Prompts, titles and errors are cut after 4 KB. Tokens and cost are exact or missing. A process that has
// stored nothing yet is listed as a session with an id made from the process, until its
// own session exists.
type Adapter struct{ *pistore.Store }

var _ adapters.Piped = (*Adapter)(nil)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	return &Adapter{pistore.New(description, cfg)}
}

// Name is the agent's name, on the command line and in JSON.
const Name = pistore.Pi

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Pi", Short: "pi", Folders: []string{".pi"},
	Program: "pi", Install: "npm install -g @earendil-works/pi-coding-agent", Processes: agentproc.NamesOf("pi", "pi"),
	Children: adapters.ChildVariables{Session: "PI_SESSION_ID"},
}, (*Adapter)(nil))

// Program implements adapters.Launcher. The installer of pi_agent_rust may have
// renamed Pi to legacy-pi.
func (a *Adapter) Program(look func(string) (string, error)) (string, error) {
	path, err := pistore.Program(false, look, "legacy-pi", "pi")
	if err != nil {
		return "", description.NotInstalled()
	}
	return path, nil
}

// Talk implements adapters.Piped (1.5.2).
func (a *Adapter) Talk() adapters.Talk { return pistore.NewTalk() }
