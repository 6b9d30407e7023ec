package uitest

import (
	"context"
	"path/filepath"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// Agent is an agent without sessions. Its launches are planned and not started.
type Agent struct {
	As      adapters.Name
	Run     string // its program
	Install string // the command that installs it; empty: it is installed
	Offers  []adapters.Mode
}

// Agents returns three agents, of which one is not installed.
func Agents() []adapters.Adapter {
	return []adapters.Adapter{
		&Agent{As: agentname.ClaudeCode, Run: "claude", Offers: []adapters.Mode{
			{Name: "acceptEdits", Says: "edits files without asking"}, {Name: "plan", Says: "makes a plan and changes nothing"},
			{Name: "bypassPermissions", Says: "does everything without asking", Unsafe: true}}},
		&Agent{As: agentname.Codex, Run: "codex", Offers: []adapters.Mode{{Name: "read-only", Says: "changes nothing"}}},
		&Agent{As: agentname.OpenCode, Run: "opencode", Install: "npm install -g opencode-ai"},
	}
}

// Name returns its name.
func (a *Agent) Name() adapters.Name { return a.As }

// Discover finds no sessions.
func (a *Agent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{}, nil
}

// Program returns the path of its program, unless it is not installed.
func (a *Agent) Program(func(string) (string, error)) (string, error) {
	if a.Install != "" {
		return "", &adapters.NotInstalledError{Program: a.Run, Install: a.Install}
	}
	return filepath.Join("/usr/local/bin", a.Run), nil
}

// Modes returns its modes.
func (a *Agent) Modes() []adapters.Mode { return a.Offers }

// Command returns a command line that has every field of the task.
func (a *Agent) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Drop: []string{"FAKE_API_KEY"}, WhyDrop: "with it the agent bills an API account"}
	if t.Home != "" {
		c.Set = []string{"FAKE_HOME=" + t.Home}
	}
	if t.Resume != "" {
		c.Args = append(c.Args, "--resume", t.Resume)
	}
	if t.Model != "" {
		c.Args = append(c.Args, "--model", t.Model)
	}
	if t.Mode != "" {
		c.Args = append(c.Args, "--mode", t.Mode)
	}
	if !t.Terminal {
		c.Args, c.Stdin = append(c.Args, "-p"), t.Prompt
	} else if t.Prompt != "" {
		c.Args = append(c.Args, "--", t.Prompt)
	}
	return c, nil
}
