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
		return a.answerable(c, &t)
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
	return c, a.useHome(&c, t.Home)
}

// answerable returns the command of a launch that is spoken to: `kimi acp` takes no options, and asks as a terminal does (2.1.0).
func (a *Adapter) answerable(c adapters.Command, t *adapters.Task) (adapters.Command, error) {
	switch {
	case t.Mode != "" && t.Mode != modeDefault:
		return c, errors.New("kimi: a launch that can be answered has the mode default")
	case t.Model != "":
		return c, errors.New("kimi: a launch that can be answered takes no model; set default_model in Kimi Code's config.toml")
	}
	c.Args = []string{"acp"}
	c.Pipe = true
	c.Stdin = talking.Stdin(t)
	return c, a.useHome(&c, t.Home)
}

func (a *Adapter) useHome(c *adapters.Command, home string) error {
	return agentproc.UseHome(c, home, homeOf(a.Env, a.Home), homeVariable, "")
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
