package codex

import "rollcall/adapters"

// Program implements adapters.Launcher.
func (a *Adapter) Program(look func(string) (string, error)) (string, error) {
	return description.FindProgram(look)
}

// Modes implements adapters.Launcher: the sandboxes of --sandbox (0.80.0 to
// 0.169.0).
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: "read-only", Says: "reads, and changes nothing"},
		{Name: "workspace-write", Says: "writes in its folder without asking"},
		{Name: "danger-full-access", Says: "does everything without asking", Unsafe: true},
	}
}

// Command implements adapters.Launcher (0.80.0 to 0.169.0). In the background the
// prompt goes to standard input; a terminal's needs it as an argument. The id of
// a new session can't be chosen.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	if !t.Terminal {
		c.Args, c.Stdin = []string{"exec"}, t.Prompt
	}
	if t.Resume != "" {
		c.Args = append(c.Args, "resume")
	}
	if !t.Terminal {
		c.Args = append(c.Args, "--json")
	}
	if t.Model != "" {
		c.Args = append(c.Args, "--model", t.Model)
	}
	if t.Mode != "" { // `exec resume` has no --sandbox
		c.Args = append(c.Args, "-c", "sandbox_mode="+t.Mode)
	}
	if t.Resume != "" {
		c.Args = append(c.Args, t.Resume)
	}
	switch {
	case !t.Terminal:
		c.Args = append(c.Args, "-")
	case t.Prompt != "":
		c.Args = append(c.Args, "--", t.Prompt)
	}
	return c, nil
}
