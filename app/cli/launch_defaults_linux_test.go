package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// envAgent is an agent that writes its environment, its model and its mode to its folder, and ends.
type envAgent struct{ writer }

func (a *envAgent) Modes() []adapters.Mode { return []adapters.Mode{{Name: "plan"}, {Name: "edit"}} }

func (a *envAgent) Command(program string, t adapters.Task) (adapters.Command, error) {
	return adapters.Command{Path: program, Args: []string{"-c", "env > env.tmp; mv env.tmp env", "model=" + t.Model, "mode=" + t.Mode}, Stdin: t.Prompt}, nil
}

// TestLaunchDefaults: a launch uses the agent, model, mode and environment of the settings where the user names none.
func TestLaunchDefaults(t *testing.T) {
	t.Setenv("SECRET_OF_MINE", "s")
	t.Setenv("KEPT_OF_MINE", "k")
	d := launchDeps(t, &envAgent{writer{agentname.ClaudeCode}}, &envAgent{writer{agentname.Codex}})
	set := settings.Settings{DefaultAgent: agentname.Codex, LeaveOut: []string{"SECRET_OF_MINE", "NOT_SET"},
		Agents: map[adapters.Name]settings.Agent{agentname.Codex: {Model: "gpt-6", Mode: "plan"}, agentname.ClaudeCode: {Mode: "wild"}}}
	d.Settings = func() (settings.Settings, error) { return set, nil }
	dir, repo := t.TempDir(), oneCommit(t)
	matrix := filepath.Join(t.TempDir(), "m.yaml")
	must.Do(t, os.WriteFile(matrix, []byte("prompt: x\nmatrix:\n  - agent: codex\n  - agent: codex\n    model: gpt-7\n    mode: edit\n"), 0o600))
	const left = "left out of its environment, as the settings say: SECRET_OF_MINE\n"
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"-p x --cwd " + dir, Done, []string{"Codex in", "model=gpt-6 mode=plan\n", left}},
		{"codex -p x --cwd " + dir, Done, []string{"model=gpt-6 mode=plan\n"}},
		{"codex=gpt-7 -p x --mode edit --cwd " + dir, Done, []string{"model=gpt-7 mode=edit\n"}},
		{"--model= --mode= -p x --cwd " + dir, Done, []string{"Codex in", "model= mode=\n"}},
		{"codex= -p x --cwd " + dir, Done, []string{"model= mode=plan\n"}},
		{"claude-code -p x --cwd " + dir, Failure, []string{`settings: agents.claude-code.mode must be one of plan, edit, not "wild"`}},
		{"claude-code -p x --mode plan --cwd " + dir, Done, []string{"model= mode=plan\n"}},
		{"codex codex=gpt-8 -p x --cwd " + repo, Done, []string{"model=gpt-6 mode=plan\n", "model=gpt-8 mode=plan\n", left}},
		{"--matrix " + matrix + " --cwd " + repo, Done, []string{"model=gpt-6 mode=plan\n", "model=gpt-7 mode=edit\n"}},
		{"--cwd " + dir, Usage, []string{"needs a prompt"}},
	} {
		r := run(t, d, strings.Fields("launch -n "+c.args)...)
		for _, want := range c.want {
			if r.code != c.code || !strings.Contains(r.out+r.err, want) {
				t.Errorf("launch %s: %+v, want %d %q", c.args, r, c.code, want)
			}
		}
	}
	if r := run(t, d, "launch", "-p", "x", "--cwd", dir); r.code != Done {
		t.Fatalf("%+v", r)
	}
	env := ""
	eventually.True(t, "the environment of the agent", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "env"))
		env = string(text)
		return err == nil
	})
	if !strings.Contains(env, "KEPT_OF_MINE=k\n") || strings.Contains(env, "SECRET_OF_MINE") {
		t.Errorf("the environment is\n%s", env)
	}
	set = settings.Settings{}
	if r := run(t, d, "launch", "-p", "x", "--cwd", dir); r.code != Usage || !strings.Contains(r.err, "set default_agent in config.toml") {
		t.Errorf("without a default: %+v", r)
	}
}
