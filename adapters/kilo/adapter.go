// Package kilo reports the sessions of the Kilo CLI. Kilo is made from OpenCode: it stores and logs
// the same things under its own names, so that the adapter of OpenCode reads them.
//
// Facts were learned on Linux from Kilo 7.7.7 and 7.7.9.
package kilo

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/opencode"
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "kilo"

// product holds the names that Kilo uses. Whether its terminal interface sends a password to its own
// server is not known, so that it is launched without a port.
var product = &opencode.Product{
	Description: adapters.Register(adapters.Description{
		Name: Name, Title: "Kilo", Short: "kilo", Folders: []string{".kilo", ".config/kilo", ".local/share/kilo", ".local/state/kilo"},
		HomeFolder: "kilo", Program: "kilo", Install: "npm install -g @kilocode/cli", Processes: agentproc.NamesOf("kilo", "kilo"),
		Children: adapters.ChildVariables{Process: "KILO_PID"}, Runs: (&agentproc.Program{Names: []string{"kilo"}}).Runs,
		ReasoningApart: true, // 7.7.9
	}, (*opencode.Adapter)(nil)),
	Programs: []string{"kilo"}, Variable: "KILO_",
}

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *opencode.Adapter { return opencode.For(product, cfg) }
