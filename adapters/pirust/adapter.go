// Package pirust reports the sessions of pi_agent_rust, the port of Pi to Rust.
//
// It shares Pi's store: a session is its own when the file is named by the first 8
// characters of the id, or the header has members that only it writes, or it is an
// SQLite file. Every other session is Pi's (package pi). All facts come from its source
// code; the program was not run.
package pirust

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/pistore"
)

// Adapter implements adapters.Adapter, adapters.Watcher, adapters.ProcessOwner,
// adapters.Peeker and adapters.Searcher. It keeps what it read of files and processes in memory, never a
// status.
//
// Prompts, titles and errors are cut after 4 KB. Tokens and cost are exact or missing. Discover returns ErrAbsent if there is no process of pi_agent_rust, and no session or
// index in its form, whether Pi is installed or not.
type Adapter struct{ *pistore.Store }

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	return &Adapter{pistore.New(description, cfg)}
}

// Name is the agent's name, on the command line and in JSON.
const Name = pistore.PiRust

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "pi_agent_rust", Short: "pi-rs", Folders: []string{".pi"},
	Program: "pi", Install: "cargo install pi_agent_rust", Processes: []string{"pi"},
}, (*Adapter)(nil))

// Program implements adapters.Launcher.
func (a *Adapter) Program(look func(string) (string, error)) (string, error) {
	path, err := pistore.Program(true, look, "pi")
	if err != nil {
		return "", &adapters.NotInstalledError{Program: "pi (pi_agent_rust)", Install: description.Install}
	}
	return path, nil
}
