package omp

import (
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
)

// Modes implements adapters.Launcher: the values of --approval-mode (18.2.3).
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: "always-ask", Says: "asks before each change and each command"},
		{Name: "write", Says: "edits files without asking"},
		{Name: modeYolo, Says: "does everything without asking", Unsafe: true},
	}
}

// Command implements adapters.Launcher (18.2.3). In the background the prompt goes to standard input; in a terminal it must be an argument.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	own, _ := placesOf(a.Env, a.Home, "")
	if err := agentproc.UseHome(&c, t.Home, own, homeVariable, ""); err != nil {
		return c, err
	}
	if !t.Terminal {
		c.Args, c.Stdin = []string{"-p", "--mode", "json"}, t.Prompt
	}
	c.Option("--resume", t.Resume)
	c.Option("--model", t.Model)
	c.Option("--approval-mode", t.Mode)
	if t.Terminal && t.Prompt != "" {
		c.Args = append(c.Args, asMessage(t.Prompt))
	}
	return c, nil
}

// asMessage returns the prompt in a form that oh-my-pi does not read as an option, a sub-command or the name of a file.
func asMessage(prompt string) string {
	if strings.HasPrefix(prompt, "-") || strings.HasPrefix(prompt, "@") || !strings.Contains(prompt, " ") {
		return " " + prompt
	}
	return prompt
}
