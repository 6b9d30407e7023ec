package opencode

import "rollcall/adapters"

// Program implements adapters.Launcher.
func (a *Adapter) Program(look func(string) (string, error)) (string, error) {
	return description.FindProgram(look)
}

// Modes implements adapters.Launcher: the built-in agents of OpenCode are its modes
// (--agent). In the background OpenCode refuses every action that needs a permission.
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: "build", Says: "works as its configuration permits"},
		{Name: "plan", Says: "makes a plan and changes nothing"},
	}
}

// Command implements adapters.Launcher (1.1.65 to 1.18.33). `opencode run` reads
// the prompt from standard input; the terminal's needs it as an argument. The id
// of a new session can't be chosen.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	if !t.Terminal {
		c.Args, c.Stdin = []string{"run", "--format", "json"}, t.Prompt
	}
	if t.Resume != "" {
		c.Args = append(c.Args, "--session", t.Resume)
	}
	if t.Model != "" {
		c.Args = append(c.Args, "--model="+t.Model)
	}
	if t.Mode != "" {
		c.Args = append(c.Args, "--agent", t.Mode)
	}
	if t.Terminal && t.Prompt != "" {
		c.Args = append(c.Args, "--prompt="+t.Prompt)
	}
	return c, nil
}
