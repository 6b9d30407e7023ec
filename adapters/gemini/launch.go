package gemini

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
)

// Modes implements adapters.Launcher: the values of --approval-mode (0.29.0, 0.61.0).
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: "default", Says: "asks before each action; in the background it has no shell"},
		{Name: "auto_edit", Says: "edits files without asking"},
		{Name: "plan", Says: "makes a plan and changes nothing"},
		{Name: "yolo", Says: "does everything without asking", Unsafe: true},
	}
}

// protocol is how a launch that can be answered exchanges its prompts and requests (0.61.0).
var protocol = kit.ACP{Agent: Name, Where: "Gemini CLI"}

// Talk implements adapters.Piped.
func (a *Adapter) Talk() adapters.Talk { return protocol.Talk() }

// Command implements adapters.Launcher (0.61.0).
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	l := kit.Launch{ACP: protocol, Output: "stream-json", Prompt: "--prompt-interactive",
		Home: func(c *adapters.Command, home string) error {
			return agentproc.UseHome(c, home, homeOf(a.Env, a.Home), homeVariable, folderName)
		},
		Mode: func(c *adapters.Command, mode string) { c.Option("--approval-mode", mode) }}
	return l.Command(program, t)
}

// Failure implements adapters.FailureReader for the output of `gemini --output-format stream-json` (0.61.0).
func (a *Adapter) Failure(output []byte) string {
	return kit.LastFailure(output, func(line []byte) string {
		if string(agentfile.Text(agentfile.Get(line, "type"))) == "result" && string(agentfile.Text(agentfile.Get(line, "status"))) == "error" {
			return agentfile.String(agentfile.Get(line, "error", "message"))
		}
		return ""
	})
}
