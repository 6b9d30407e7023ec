package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app/owned/worktree"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// writer is an agent that writes its prompt and model into a file of its folder
// and is done.
type writer struct{ name adapters.Name }

func (a *writer) Name() adapters.Name { return a.name }

func (a *writer) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{}, nil
}

func (a *writer) Program(func(string) (string, error)) (string, error) { return "/bin/sh", nil }

func (a *writer) Modes() []adapters.Mode { return nil }

func (a *writer) Command(program string, t adapters.Task) (adapters.Command, error) {
	return adapters.Command{Path: program, Args: []string{"-c", `cat >> readme; echo "by $0" >> readme`, t.Model}, Stdin: t.Prompt + "\n"}, nil
}

// oneCommit makes a git repository with one commit.
func oneCommit(t *testing.T) string {
	t.Helper()
	must.Have(t, "git")
	dir := filepath.Join(t.TempDir(), "app")
	script := `git init -q -b main "$0" && cd "$0" && echo hello > readme && git add . &&
		git -c user.name=t -c user.email=t@example.org commit -qm one`
	if out, err := exec.Command("sh", "-c", script, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

func TestGroup(t *testing.T) {
	repo := oneCommit(t)
	d := launchDeps(t, &writer{agentname.ClaudeCode}, &writer{agentname.Codex})
	matrix := filepath.Join(t.TempDir(), "m.yaml")
	text := "prompt: do it\ncwd: " + repo + "\ngroup: g-00aa11\nmatrix:\n  - agent: claude-code\n    models: [opus, sonnet]\n  - agent: codex\n"
	must.Do(t, os.WriteFile(matrix, []byte(text), 0o600))
	if r := run(t, d, "launch", "--matrix", matrix, "-n"); r.code != Done || strings.Count(r.out, " in "+repo) != 3 {
		t.Errorf("dry run: %+v", r)
	}
	r := run(t, d, "launch", "--matrix", matrix)
	if r.code != Done || strings.Count(r.out, ": started l-") != 3 || !strings.Contains(r.out, "rollcall compare g-00aa11") {
		t.Fatalf("%+v", r)
	}
	want := []string{"cc-opus", "cc-sonnet", "codex"}
	var c compareJSON
	eventually.True(t, "the end of their work", func() bool {
		r = run(t, d, "compare", "g-00aa11", "--repo", repo, "--json")
		if err := json.Unmarshal([]byte(r.out), &c); err != nil {
			t.Fatalf("%v: %+v", err, r)
		}
		return strings.Count(r.out, `"insertions":2`) == 6 // of each worktree, and of its file
	})
	if len(c.Tries) != 3 || c.Base != "main" {
		t.Fatalf("%+v", r)
	}
	for i, try := range c.Tries {
		if try.Worktree.Branch != "try/g-00aa11/"+want[i] || len(try.Files) != 1 || try.Files[0] != (worktree.FileStat{Path: "readme", Insertions: 2}) {
			t.Errorf("%+v", try)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(filepath.Dir(repo), "app-try-g-00aa11-cc-sonnet", "readme")); string(got) != "hello\ndo it\nby sonnet\n" {
		t.Errorf("the agent wrote %q", got)
	}
	if got, _ := os.ReadFile(filepath.Join(repo, "readme")); string(got) != "hello\n" {
		t.Errorf("the repository itself was changed: %q", got)
	}
	if r := run(t, d, "compare", "g-00aa11", "--repo", repo); r.code != Done || strings.Count(r.out, "+2 −0") != 6 {
		t.Errorf("%+v", r)
	}
	if r := run(t, d, "compare", "g-none", "--repo", repo); r.code != Failure || !strings.Contains(r.err, `no worktree of group "g-none"`) {
		t.Errorf("%+v", r)
	}
}

func TestGroupRefused(t *testing.T) {
	repo := oneCommit(t)
	d := launchDeps(t, &writer{agentname.ClaudeCode}, &writer{agentname.Codex})
	matrix := func(text string) string {
		path := filepath.Join(t.TempDir(), "m.yaml")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no repository": {[]string{"launch", "codex", "claude-code", "-p", "x", "--cwd", t.TempDir()}, Failure, "needs a git repository"},
		"unknown agent": {[]string{"launch", "codex", "nobody", "-p", "x", "--cwd", repo}, Usage, `unknown agent "nobody"`},
		"a terminal":    {[]string{"launch", "codex", "codex", "-p", "x", "--cwd", repo, "--terminal"}, Usage, "one agent only"},
		"both":          {[]string{"launch", "codex", "--matrix", matrix("prompt: x")}, Usage, "contains the agents"},
		"no agents":     {[]string{"launch", "--matrix", matrix("prompt: x")}, Usage, "names no agent"},
		"empty":         {[]string{"launch", "--matrix", matrix("")}, Usage, "the file is empty"},
		"misspelt":      {[]string{"launch", "--matrix", matrix("promt: x\nmatrix:\n  - agent: codex")}, Usage, `promt`},
		"no YAML":       {[]string{"launch", "--matrix", matrix("prompt: [")}, Usage, "m.yaml: "},
		"two models":    {[]string{"launch", "--matrix", matrix("prompt: x\nmatrix:\n  - agent: codex\n    model: a\n    models: [b]")}, Usage, "entry 1 of the matrix"},
		"bad group":     {[]string{"launch", "codex", "codex", "-p", "x", "--cwd", repo, "--group", "../x"}, Failure, "must consist of letters, digits and hyphens"},
	} {
		if r := run(t, d, c.args...); r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: %+v; want %d with %q", name, r, c.code, c.says)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(repo), "*-try-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
