package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// namesAllowed are the places outside the adapters that may name an agent. A path
// that ends in "/" stands for everything below it.
var namesAllowed = []struct{ path, why string }{
	{"adapters/", "each adapter names its own agent"},
	{"internal/", "it plays, installs and drives the real agents for tests, and is no part of the program"},
	{"app/owned/cleanup/agentctl.go", "it says whose sessions another program's old folders speak of; that list never grows"},
}

// TestOnlyAdaptersNameAgents holds that a new agent needs no change outside its
// package, adapters/all and its scene: no other part of the program mentions an
// agent's name, neither as a constant nor as a string, and no test lists all.
func TestOnlyAdaptersNameAgents(t *testing.T) {
	agents := adapters.Described()
	if len(agents) < 6 {
		t.Fatalf("only %d agents are registered", len(agents))
	}
	used := map[string]bool{}
	eachSourceFile(t, "..", func(path string, f *ast.File) {
		found := agentsNamed(f, agents)
		if len(found) == 0 {
			return
		}
		for _, a := range namesAllowed {
			if path == a.path || strings.HasSuffix(a.path, "/") && strings.HasPrefix(path, a.path) {
				used[a.path] = true
				return
			}
		}
		switch {
		case !strings.HasSuffix(path, "_test.go"):
			t.Errorf("%s names %q: take what is needed from adapters.Describe", path, found)
		case len(found) == len(agents):
			t.Errorf("%s lists every agent: take the list from adapters.Described", path)
		}
	})
	for _, a := range namesAllowed {
		if !used[a.path] {
			t.Errorf("%s names no agent any more: remove it from the list of this test", a.path)
		}
	}
}

func TestAgentsNamed(t *testing.T) {
	const source = `package p
import "rollcall/internal/agentname"
// codex in a comment is none.
const text = "see codex and " + "pi"
var name = agentname.OpenCode
var title = "Claude Code"
`
	f := must.Get(parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution))(t)
	want := []adapters.Name{agentname.ClaudeCode, agentname.OpenCode, agentname.Pi}
	if got := agentsNamed(f, adapters.Described()); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// agentsNamed returns the agents that a file names: by the constant of package
// agentname, or by a string that is the name or title of one or lists several.
func agentsNamed(f *ast.File, agents []adapters.Description) []adapters.Name {
	found := map[adapters.Name]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "agentname" {
				for _, d := range agents {
					found[d.Name] = found[d.Name] || n.Sel.Name == constantOf(d)
				}
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(n.Value); err == nil {
				for _, d := range namedIn(text, agents) {
					found[d] = true
				}
			}
		}
		return true
	})
	var out []adapters.Name
	for _, d := range agents {
		if found[d.Name] {
			out = append(out, d.Name)
		}
	}
	return out
}

// namedIn returns the agents that a string names. One that stands inside a longer
// text, such as an example of a command, is no list: two are.
func namedIn(text string, agents []adapters.Description) []adapters.Name {
	var whole, inside []adapters.Name
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;:|\n\t()", r) })
	for _, d := range agents {
		switch {
		case text == string(d.Name) || text == d.Title:
			whole = append(whole, d.Name)
		case slices.Contains(words, string(d.Name)) || strings.Contains(text, d.Title):
			inside = append(inside, d.Name)
		}
	}
	if len(inside) > 2 {
		return append(whole, inside...)
	}
	return whole
}

// constantOf returns the name of the constant of package adapters for an agent.
func constantOf(d adapters.Description) string {
	if d.Title == string(d.Name) || strings.Contains(d.Title, "_") {
		parts := strings.Split(string(d.Name), "-")
		for i, p := range parts {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
		return strings.Join(parts, "")
	}
	return strings.ReplaceAll(d.Title, " ", "")
}

// eachSourceFile calls visit for each Go file below root, with its path from there.
func eachSourceFile(t *testing.T, root string, visit func(path string, f *ast.File)) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"testdata", "build", ".git"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		visit(filepath.ToSlash(rel), f)
		return err
	})
	must.Do(t, err)
}
