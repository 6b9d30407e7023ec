package example

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
)

// Modes implements adapters.Launcher: the agent has none.
func (a *Adapter) Modes() []adapters.Mode { return nil }

// Command implements adapters.Launcher. The prompt goes to standard input, so
// that no process list shows it; a terminal needs it as an argument.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	if !t.Terminal {
		c.Args, c.Stdin = []string{"run"}, t.Prompt
	}
	c.Option("--session", t.Resume)
	c.Option("--model", t.Model)
	if t.Terminal && t.Prompt != "" {
		c.Args = append(c.Args, "--", t.Prompt)
	}
	return c, agentproc.UseHome(&c, t.Home, homeOf(a.Env, a.Home), homeVariable, "")
}
