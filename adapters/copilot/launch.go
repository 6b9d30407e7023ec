package copilot

import (
	"bytes"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
)

// protocol is how a Copilot that was launched as answerable is spoken to: `copilot --acp` (1.0.102).
var protocol = kit.ACP{Agent: Name, Where: description.Title}

// The permission modes, after the options that choose them (copilot --help of 1.0.102).
const (
	modeDefault  = "default"
	modePlan     = "plan"
	modeAllTools = "allow-all-tools"
	modeAll      = "allow-all"
)

// Program implements adapters.Launcher.
func (a *Adapter) Program(look func(string) (string, error)) (string, error) {
	return description.FindProgram(look)
}

// Modes implements adapters.Launcher.
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: modeDefault, Says: "asks before each action; in the background it refuses what needs permission"},
		{Name: modePlan, Says: "makes a plan and changes nothing"},
		{Name: modeAllTools, Says: "uses all tools without asking", Unsafe: true},
		{Name: modeAll, Says: "does everything without asking, also outside of the folder", Unsafe: true},
	}
}

// Command implements adapters.Launcher (1.0.34 and 1.0.102). In the background the prompt goes to standard input; in a terminal
// it must be an argument. A launch that can be answered speaks the Agent Client Protocol.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	if err := agentproc.UseHome(&c, t.Home, a.ownHome(), homeVariable, ""); err != nil {
		return c, err
	}
	answerable := t.Answerable && !t.Terminal
	switch {
	case answerable:
		c.Args, c.Stdin, c.Pipe = []string{"--acp"}, protocol.Stdin(&t), true
	case t.Resume != "":
		c.Args = []string{"--resume=" + t.Resume}
	default:
		c.Session = kit.New()
		c.Option("--session-id", c.Session)
	}
	if !t.Terminal && !answerable {
		c.Args = append(c.Args, "--output-format", "json")
		c.Stdin = t.Prompt
	}
	c.Option("--model", t.Model)
	switch t.Mode {
	case modePlan:
		c.Args = append(c.Args, "--plan")
	case modeAllTools, modeAll:
		c.Args = append(c.Args, "--"+t.Mode)
	}
	if t.Terminal && t.Prompt != "" {
		c.Args = append(c.Args, "--interactive="+t.Prompt)
	}
	return c, nil
}

// Talk implements adapters.Piped.
func (a *Adapter) Talk() adapters.Talk { return protocol.Talk() }

// Failure implements adapters.FailureReader for the output of a launch in the background: the last error that it states.
func (a *Adapter) Failure(output []byte) string {
	lines := bytes.Split(output, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		if r, err := parse(line); err == nil && string(agentfile.Text(r.typ)) == "session.error" {
			return r.text("message")
		}
	}
	return ""
}
