package launch

import (
	"strings"
	"testing"
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
		"deep":               {"files: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested deeper"},
		"bomb":               {bomb, "line "},
		"aliases":            {"prompt: &a x\nfiles: [" + strings.Repeat("*a,", 200) + "]\n", "aliases"},
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
