package grok

import (
	"runtime"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
)

// protocol is how a Grok Build that was launched as answerable is spoken to: `grok agent stdio` (1.0.41). Its questions are not in the protocol.
var protocol = kit.ACP{Agent: Name, Where: description.Title, Once: "allow-once"}

// Talk implements adapters.Piped.
func (a *Adapter) Talk() adapters.Talk { return protocol.Talk() }

// Modes implements adapters.Launcher (grok --help of 1.0.41).
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: "default", Says: "asks before risky commands; in the background it refuses what needs permission"},
		{Name: "plan", Says: "makes a plan and changes nothing before you approve it"},
		{Name: "acceptEdits", Says: "changes files without asking"},
		{Name: "auto", Says: "lets a model judge what needs permission"},
		{Name: "dontAsk", Says: "refuses what would need permission"},
		{Name: "bypassPermissions", Says: "does everything without asking", Unsafe: true},
	}
}

// Command implements adapters.Launcher. In the background the prompt goes to standard input, where the system has a file for it.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	answerable := t.Answerable && !t.Terminal // the protocol opens the session
	if t.Resume == "" && !answerable {
		c.Session = kit.New()
		c.Option("--session-id", c.Session)
	}
	if !answerable {
		c.Option("--resume", t.Resume)
	}
	c.Option("--model", t.Model)
	c.Option("--permission-mode", t.Mode)
	switch {
	case answerable:
		c.Args = append(c.Args, "agent", "stdio")
		c.Pipe = true
		c.Stdin = protocol.Stdin(&t)
	case t.Terminal && t.Prompt != "":
		c.Args = append(c.Args, "--", t.Prompt)
	case t.Terminal:
	case runtime.GOOS == "windows":
		c.Args = append(c.Args, "--output-format", "streaming-json", "--single="+t.Prompt)
	default:
		c.Args = append(c.Args, "--output-format", "streaming-json", "--prompt-file", "/dev/stdin")
		c.Stdin = t.Prompt
	}
	return c, agentproc.UseHome(&c, t.Home, homeOf(a.Env, a.Home), homeVariable, "")
}

// Failure implements adapters.FailureReader for the output of a launch in the background: the last error that it states.
func (a *Adapter) Failure(output []byte) string {
	return kit.LastFailure(output, func(line []byte) string {
		if string(agentfile.Text(agentfile.Get(line, "type"))) != "error" {
			return ""
		}
		return kit.Short(agentfile.Get(line, "message"))
	})
}
