// Package pi reports the sessions of Pi, the TypeScript coding agent
// (@mariozechner/pi-coding-agent, now @earendil-works/pi-coding-agent).
//
// A session is a JSONL file below ~/.pi/agent/sessions. Its last entry says where
// the turn stands; which process has it follows from the environment of a running
// tool, from the time at which both began, and from the ids, which one process
// numbers. Where that does not decide, the status is unknown and the evidence
// says why. Facts were learned from Pi 1.5.2 and 0.73.1 on Linux.
package pi

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/pistore"
)

// Adapter implements adapters.Adapter, adapters.Watcher, adapters.ProcessOwner,
// adapters.Peeker and adapters.Searcher. It keeps what it read of files and processes in memory, never a
// status.
//
// Prompts, titles and errors are cut after 4 KB. Tokens and cost are exact or not
// there; with Query.Totals every file that is answered is read whole once. A
// process that has stored nothing yet is answered as a session with an id made from
// the process, until its own is there.
type Adapter struct{ *pistore.Store }

var (
	_ adapters.Adapter      = (*Adapter)(nil)
	_ adapters.Describer    = (*Adapter)(nil)
	_ adapters.Watcher      = (*Adapter)(nil)
	_ adapters.ProcessOwner = (*Adapter)(nil)
	_ adapters.Peeker       = (*Adapter)(nil)
	_ adapters.Searcher     = (*Adapter)(nil)
)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	return &Adapter{pistore.New(adapters.Pi, cfg)}
}

var description = adapters.Register(adapters.Description{
	Name: adapters.Pi, Title: "Pi", Short: "pi",
	Program: "pi", Install: "npm install -g @earendil-works/pi-coding-agent", Processes: []string{"pi"},
}, (*Adapter)(nil))

// Describe implements adapters.Describer.
func (a *Adapter) Describe() adapters.Description { return description }
