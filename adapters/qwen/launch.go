package qwen

import (
	"cmp"
	"context"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
)

// Modes implements adapters.Launcher: the values of --approval-mode (0.24.4).
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: "default", Says: "asks before each action"},
		{Name: "auto", Says: "asks where it finds an action risky"},
		{Name: "auto-edit", Says: "edits files without asking"},
		{Name: "plan", Says: "makes a plan and changes nothing"},
		{Name: "yolo", Says: "does everything without asking", Unsafe: true},
	}
}

// protocol is how a launch that can be answered exchanges its prompts and requests (0.24.4).
var protocol = kit.ACP{Agent: Name, Where: description.Title}

// Talk implements adapters.Piped.
func (a *Adapter) Talk() adapters.Talk { return protocol.Talk() }

// Command implements adapters.Launcher (0.24.4). A launch in a terminal is answered through two files in a folder of the user's alone.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	l := kit.Launch{ACP: protocol, Output: "stream-json", Prompt: "--prompt-interactive",
		Home: func(c *adapters.Command, home string) error {
			return agentproc.UseHome(c, home, a.ownHome(), homeVariable, "")
		},
		Mode: func(c *adapters.Command, mode string) {
			c.Option("--approval-mode", mode)
			if t.Terminal && t.Answerable {
				r := newRemote()
				c.Before = func(context.Context) error { return r.make(a.Now()) }
				c.Option("--json-file", r.events)
				c.Option("--input-file", r.input)
			}
		}}
	return l.Command(program, t)
}

// Failure implements adapters.FailureReader for the output of `qwen --output-format stream-json` (0.24.4).
func (a *Adapter) Failure(output []byte) string {
	return kit.LastFailure(output, func(line []byte) string {
		if string(agentfile.Text(agentfile.Get(line, "type"))) == "result" && agentfile.True(agentfile.Get(line, "is_error")) {
			return cmp.Or(agentfile.String(agentfile.Get(line, "error", "message")), agentfile.String(agentfile.Get(line, "result")))
		}
		return ""
	})
}
