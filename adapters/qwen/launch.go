package qwen

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

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
var protocol = &kit.ACP{Agent: Name, Where: "Qwen Code"}

// Talk implements adapters.Piped.
func (a *Adapter) Talk() adapters.Talk { return protocol.Talk() }

// Command implements adapters.Launcher (0.24.4). A background launch reads the prompt from standard input; a launch in a terminal gets it as an
// argument, and is answered through two files in a folder of the user's alone.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	switch {
	case t.Terminal && t.Answerable:
		dir := filepath.Join(os.TempDir(), remotePrefix+kit.New())
		r := remote{events: filepath.Join(dir, "events.jsonl"), input: filepath.Join(dir, "input.jsonl")}
		c.Before = func(context.Context) error { return r.make(a.Now()) }
		c.Option("--json-file", r.events)
		c.Option("--input-file", r.input)
	case t.Terminal:
	case t.Answerable:
		c.Args, c.Stdin, c.Pipe = []string{"--acp"}, protocol.Stdin(&t), true
	default:
		c.Args, c.Stdin = []string{"--output-format", "stream-json"}, t.Prompt
	}
	if c.Pipe { // the protocol opens the session
		t.Resume = ""
	} else if t.Resume == "" {
		c.Session = kit.New()
		c.Option("--session-id", c.Session)
	}
	c.Option("--resume", t.Resume)
	c.Option("--model", t.Model)
	c.Option("--approval-mode", t.Mode)
	if err := agentproc.UseHome(&c, t.Home, cmp.Or(a.Env(homeVariable), filepath.Join(a.Home, folderName)), homeVariable, ""); err != nil {
		return c, err
	}
	if t.Terminal && t.Prompt != "" {
		c.Args = append(c.Args, "--prompt-interactive="+t.Prompt)
	}
	return c, nil
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
