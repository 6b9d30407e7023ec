package kimi

import (
	"errors"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
)

// The permission modes, after the options that choose them (kimi --help of 2.1.0).
const (
	modeDefault = "default"
	modePlan    = "plan"
	modeYolo    = "yolo"
	modeAuto    = "auto"
)

// Modes implements adapters.Launcher.
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: modeDefault, Says: "asks before each action; in a terminal only"},
		{Name: modePlan, Says: "makes a plan and changes nothing; in a terminal only"},
		{Name: modeYolo, Says: "asks before risky actions only; in a terminal only", Unsafe: true},
		{Name: modeAuto, Says: "does everything without asking", Unsafe: true},
	}
}

// Command implements adapters.Launcher (2.1.0): Kimi Code takes a prompt on its command line, in the background alone, where it always works without asking and
// knows no option for it. It chooses the id of the session.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	if t.Answerable && !t.Terminal {
		return c, errors.New("kimi: Rollcall can't answer a launch of Kimi Code; launch it with --terminal")
	}
	if t.Terminal && t.Prompt != "" {
		return c, errors.New("kimi: Kimi Code takes no prompt for a terminal; leave out the prompt and type it there")
	}
	switch {
	case t.Terminal && t.Mode != "" && t.Mode != modeDefault:
		c.Args = append(c.Args, "--"+t.Mode)
	case !t.Terminal && t.Mode != modeAuto:
		return c, errors.New("kimi: in the background Kimi Code does everything without asking; allow that by --mode auto, or use --terminal")
	}
	c.Option("--session", t.Resume)
	c.Option("--model", t.Model)
	if !t.Terminal {
		c.Option("--output-format", "stream-json")
		c.Args = append(c.Args, "--prompt="+t.Prompt)
	}
	return c, agentproc.UseHome(&c, t.Home, homeOf(a.Env, a.Home), homeVariable, "")
}

// Failure implements adapters.FailureReader: `kimi -p` prints why it failed on a line for people (2.1.0).
func (a *Adapter) Failure(output []byte) string {
	for line := range strings.Lines(string(output)) {
		if text, is := strings.CutPrefix(strings.TrimSpace(line), "error: "); is {
			return text
		}
	}
	return ""
}
