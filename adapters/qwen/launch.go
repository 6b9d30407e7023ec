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
var protocol = kit.ACP{Agent: Name, Where: description.Title, Once: allowOnce, Check: checkCall, Questions: func(call []byte) (list []adapters.Question, asks bool) {
	about := agentfile.Get(call, "_meta")
	return questionsOf(agentfile.Get(about, "qwenQuestions")), string(agentfile.Text(agentfile.Get(about, "qwenInteractionKind"))) == asksQuestion
}}

// allowOnce is the option that changes no permission mode: a plan has another one that returns to the mode before it.
const allowOnce = "proceed_once"

// Talk implements adapters.Piped.
func (a *Adapter) Talk() adapters.Talk { return protocol.Talk() }

// Command implements adapters.Launcher (0.24.4). A launch in a terminal is answered through two files in a folder of the user's alone.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	l := kit.Launch{ACP: protocol, Output: "stream-json", Prompt: "--prompt-interactive",
		Home: a.useHome,
		Mode: func(c *adapters.Command, mode string) {
			c.Option("--approval-mode", mode)
			if t.Terminal && t.Answerable {
				r := a.remoteIn(filepath.Join(os.TempDir(), remotePrefix+kit.New()))
				c.Before = func(context.Context) error { return r.make(a.Now()) }
				c.Option("--json-file", r.events)
				c.Option("--input-file", r.input)
			}
		}}
	return l.Command(program, t)
}

// useHome makes a command use a home. One that has sessions without an installation is a folder for run-time data alone.
func (a *Adapter) useHome(c *adapters.Command, home string) error {
	own, runtime := homesOf(a.Env, a.Home)
	isHome := !kit.MayExist(filepath.Join(home, "projects")) || kit.MayExist(filepath.Join(home, "installation_id"))
	var err error
	if !isHome || runtime != own {
		err = agentproc.UseHome(c, home, runtime, runtimeVariable, "")
	}
	if isHome && err == nil {
		err = agentproc.UseHome(c, home, own, homeVariable, "")
	}
	return err
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
