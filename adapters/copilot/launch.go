package copilot

import (
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

// Modes implements adapters.Launcher.
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: modeDefault, Says: "asks before each action; in the background it refuses what needs permission"},
		{Name: modePlan, Says: "makes a plan and changes nothing"},
		{Name: modeAllTools, Says: "uses all tools without asking", Unsafe: true},
		{Name: modeAll, Says: "does everything without asking, also outside of the folder", Unsafe: true},
	}
}

// Command implements adapters.Launcher (1.0.34 and 1.0.102).
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	l := kit.Launch{ACP: protocol, Output: "json", Prompt: "--interactive",
		Home: func(c *adapters.Command, home string) error {
			return agentproc.UseHome(c, home, homeOf(a.Env, a.Home), homeVariable, "")
		},
		Mode: func(c *adapters.Command, mode string) {
			switch mode {
			case modePlan, modeAllTools, modeAll:
				c.Args = append(c.Args, "--"+mode)
			}
		}}
	return l.Command(program, t)
}

// Talk implements adapters.Piped.
func (a *Adapter) Talk() adapters.Talk { return protocol.Talk() }

// Failure implements adapters.FailureReader for the output of a launch in the background: the last error that it states.
func (a *Adapter) Failure(output []byte) string {
	return kit.LastFailure(output, func(line []byte) string {
		if r, err := parse(line); err == nil && string(agentfile.Text(r.typ)) == "session.error" {
			return r.text("message")
		}
		return ""
	})
}
