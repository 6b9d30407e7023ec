package launch

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/app/owned/worktree"
	"rollcall/internal/must"
)

func TestMatrixMistakes(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'j'; c++ {
		p := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+p+",", 9), ",") + "]\n"
	}
	for name, tt := range map[string]struct{ text, says string }{
		"panic of a library": {"prompt: *!!binary\n- |\n", "line "},
		"unknown key":        {"prompt: x\nmatrx:\n- agent: pi\n", `line 2: "matrx" is not a key of a matrix file`},
		"text for a list":    {"matrix: pi\n", "line 1: "},
		"list for text":      {"matrix:\n- agent: [pi]\n", "line 2: "},
		"twice":              {"prompt: x\nprompt: y\n", "line 2: "},
		"two documents":      {"prompt: x\n---\nprompt: y\n", "a second document"},
		"deep":               {"files: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "line "},
		"bomb":               {bomb, "line "},
		"alias of itself":    {"matrix: &a [*a]\n", ""},
		"empty":              {"", "empty"},
		"comment":            {"# x\n", "empty"},
		"no text":            {"prompt: \x00\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseMatrix(t.Context(), []byte(tt.text), "/")
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "launch.") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestMatrixWithAliases(t *testing.T) {
	m, err := parseMatrix(t.Context(), []byte("prompt: do it\nmatrix:\n- agent: &a pi\n  mode: x\n- {agent: *a, models: [m, n]}\n"), "/x")
	if err != nil || len(m.Members) != 3 || m.Members[2] != (Member{"pi", "n", ""}) || m.Request.Task.Dir != "/x" {
		t.Errorf("%+v, %v", m, err)
	}
}

func FuzzMatrix(f *testing.F) {
	for _, s := range []string{"", "prompt: x\nmatrix:\n- agent: pi\n  models: [a, b]\n", "a: &a [*a]", "? \n: -", "<<: *x", "prompt: !!binary x", "%YAML 1.2\n---\n...", "- |\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "prompt_file") {
			t.Skip("reads a file of any name")
		}
		m, err := parseMatrix(t.Context(), []byte(text), "/")
		if err == nil && (len(m.Members) == 0 || len(m.Members) > maxMembers) {
			t.Errorf("%d members of %q", len(m.Members), text)
		}
		if err != nil && strings.Contains(err.Error(), "can't be read as YAML") {
			t.Logf("the library panics: %v", err)
		}
	})
}

// TestMatrixOfAgentctl: its keys are known too.
func TestMatrixOfAgentctl(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	text := `prompt: do it
cwd: ~/code/mono
branch: feature/cache
base_branch: develop
hooks:
  on_create: echo hello
  on_complete: echo bye
matrix:
  - adapter: claude-code
    model:
      - opus
      - sonnet
  - adapter: codex
    model: gpt-5
  - agent: pi
`
	m := must.Get(parseMatrix(t.Context(), []byte(text), "/x"))(t)
	want := []Member{{"claude-code", "opus", ""}, {"claude-code", "sonnet", ""}, {"codex", "gpt-5", ""}, {"pi", "", ""}}
	if !slices.Equal(m.Members, want) || m.Request.Task.Dir != filepath.Join(home, "code", "mono") || m.Worktree != (worktree.Wanted{Branch: "feature/cache", Base: "develop"}) {
		t.Errorf("%+v", m)
	}
	if h := m.Request.Hooks; len(h) != 2 || h[0].Command != "echo hello" || h[1].Command != "echo bye" {
		t.Errorf("%+v", h)
	}
	for text, says := range map[string]string{
		"- {agent: pi, adapter: pi}":           "both agent and adapter",
		"- {agent: pi, model: [a], models: b}": "both model and models",
		"- {adapter: [pi]}":                    "can't use",
		"- {agent: pi, model: {a: b}}":         "can't use",
	} {
		if _, err := parseMatrix(t.Context(), []byte("prompt: x\nmatrix:\n"+text+"\n"), "/x"); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "launch.") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
