package kit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// ownRule lists the files that may name the variable of the home folder themselves, and why.
var ownRule = map[string]string{
	"internal/kit/environ.go":         "it is where the name is chosen by system",
	"internal/agentproc/container.go": "only Linux has processes of containers in its table",
	"openclaw/processes.go":           "OpenClaw 2026.9.6 itself reads HOME, then USERPROFILE, on every system",
}

// Adapters know the user's home folder from adapters.Base or from the variable kit.Home of a process: HOME is not set on Windows.
func TestHomeIsNamedOnce(t *testing.T) {
	adapters := filepath.Join("..", "..")
	used := map[string]bool{}
	must.Do(t, filepath.WalkDir(adapters, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_linux.go") {
			return nil
		}
		name, err := filepath.Rel(adapters, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		for _, at := range namesHome(t, path) {
			used[name] = true
			if ownRule[name] == "" {
				t.Errorf("%s names the variable of the home folder; use kit.Home, which is USERPROFILE on Windows", at)
			}
		}
		return nil
	}))
	for name := range ownRule {
		if !used[name] {
			t.Errorf("%s may name the variable of the home folder, and does not", name)
		}
	}
}

// namesHome returns the places of a file at which a string is the name of the variable, or begins with it.
func namesHome(t *testing.T, path string) (places []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	must.Do(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		text, ok := n.(*ast.BasicLit)
		if !ok || text.Kind != token.STRING {
			return true
		}
		word := strings.Trim(text.Value, "\"`")
		for _, name := range []string{"HOME", "USERPROFILE"} {
			if word == name || strings.HasPrefix(word, name+"=") || strings.Contains(word, "$"+name) {
				places = append(places, files.Position(text.Pos()).String())
			}
		}
		return true
	})
	return places
}
