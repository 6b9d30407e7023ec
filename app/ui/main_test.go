package ui

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"rollcall/adapters"
	_ "rollcall/adapters/all"
	"rollcall/internal/agentname"
	"rollcall/internal/uitest"
)

// roleVariable makes the test binary play a program.
const roleVariable = "ROLLCALL_UI_TEST_ROLE"

// roles are what the test binary can play.
var roles = map[string]func() int{}

func TestMain(m *testing.M) {
	if play, ok := roles[os.Getenv(roleVariable)]; ok {
		os.Exit(play())
	}
	uitest.UseTheme(uitest.Light)
	goleak.VerifyTestMain(m)
}

// fakeAgent is an agent without sessions. Its launches are planned and not started.
type fakeAgent struct {
	name    adapters.Name
	program string
	install string // the command that installs it; empty: it is installed
	modes   []adapters.Mode
}

func usualAgents() []adapters.Adapter {
	return []adapters.Adapter{
		&fakeAgent{name: agentname.ClaudeCode, program: "claude", modes: []adapters.Mode{
			{Name: "acceptEdits", Says: "edits files without asking"}, {Name: "plan", Says: "makes a plan and changes nothing"},
			{Name: "bypassPermissions", Says: "does everything without asking", Unsafe: true}}},
		&fakeAgent{name: agentname.Codex, program: "codex", modes: []adapters.Mode{{Name: "read-only", Says: "changes nothing"}}},
		&fakeAgent{name: agentname.OpenCode, program: "opencode", install: "npm install -g opencode-ai"},
	}
}

func (a *fakeAgent) Name() adapters.Name { return a.name }

func (a *fakeAgent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{}, nil
}

func (a *fakeAgent) Program(func(string) (string, error)) (string, error) {
	if a.install != "" {
		return "", &adapters.NotInstalledError{Program: a.program, Install: a.install}
	}
	return filepath.Join("/usr/local/bin", a.program), nil
}

func (a *fakeAgent) Modes() []adapters.Mode { return a.modes }

func (a *fakeAgent) Command(program string, t adapters.Task) (adapters.Command, error) {
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
