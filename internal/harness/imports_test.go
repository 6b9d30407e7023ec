package harness

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// outsiders are the packages that may say how it is, as they know nothing of Rollcall's.
var outsiders = []string{"rollcall/internal/harness/screen", "rollcall/internal/harness/listing", "rollcall/internal/modelserver"}

// tools are the other packages of Rollcall's that the oracle may reach, and what for. A rule that is copied elsewhere is in none of them: what is not here
// is read before it is added.
var tools = map[string]string{
	"rollcall/adapters":                    "the words in which the list is written, no agent's rule",
	"rollcall/adapters/internal/agentfile": "opens files, for the words",
	"rollcall/adapters/internal/factcache": "keeps a file of numbers, for the words",
	"rollcall/bounded":                     "reads a file up to a size",
	"rollcall/internal/adaptertest/scene":  "the script of a session",
	"rollcall/internal/agentname":          "the names of the agents",
	"rollcall/internal/agents":             "runs the real agents",
	"rollcall/internal/desktoptest":        "a panel and notifications",
	"rollcall/internal/eventually":         "waits",
	"rollcall/internal/gatewaytest":        "a gateway for the script",
	"rollcall/internal/must":               "fails",
	"rollcall/internal/namespaces":         "keeps the run apart",
	"rollcall/internal/pressure":           "measures the load",
	"rollcall/proc":                        "processes by pid and start time",
	"rollcall/textmatch":                   "compares texts, for the words of the list",
}

// TestOracleIsFromOutside: what says how it is shares no rule with what is tested. The packages that read a screen, a listing and the agents' requests
// import nothing of Rollcall's at all, and the files that compare reach, through whatever they import, only what is known to have no rule.
func TestOracleIsFromOutside(t *testing.T) {
	for _, name := range outsiders {
		for _, one := range slices.Sorted(maps.Keys(reached(t, importsOf(t, folderOf(name))))) {
			t.Errorf("%s reaches %s", name, one)
		}
	}
	for _, one := range slices.Sorted(maps.Keys(reached(t, ownImports(t)))) {
		if tools[one] == "" && !slices.Contains(outsiders, one) {
			t.Errorf("the oracle reaches %s", one)
		}
	}
}

func folderOf(path string) string {
	return filepath.Join("..", "..", filepath.FromSlash(strings.TrimPrefix(path, "rollcall/")))
}

// importsOf returns what the files of a package in a folder import, on any system and without its tests.
func importsOf(t *testing.T, folder string) []string {
	t.Helper()
	all := build.Default
	all.UseAllFiles = true
	found, err := all.ImportDir(folder, 0)
	if several := (*build.MultiplePackageError)(nil); !errors.As(err, &several) {
		must.Do(t, err)
	}
	return found.Imports
}

// reached returns the packages of Rollcall's among the imports, and those that these import.
func reached(t *testing.T, imports []string) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for len(imports) > 0 {
		next := imports[0]
		imports = imports[1:]
		if !seen[next] && strings.HasPrefix(next, "rollcall/") {
			seen[next] = true
			imports = append(imports, importsOf(t, folderOf(next))...)
		}
	}
	return seen
}

// isOneAnswer reports whether a file belongs to TestOneAnswer, which compares Rollcall with itself, and so has its core in the same process.
func isOneAnswer(file string) bool { return strings.HasPrefix(file, "one_answer") }

// ownImports returns what the files of this package import, except for those of TestOneAnswer. The others must use nothing that these declare.
func ownImports(t *testing.T) (imports []string) {
	t.Helper()
	files := must.Get(filepath.Glob("*.go"))(t)
	foreign, own := map[string]string{}, map[string]bool{}
	used := map[string]string{}
	for _, path := range files {
		file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
		for _, d := range file.Decls {
			for _, name := range namesOf(d) {
				if isOneAnswer(path) {
					foreign[name] = path
				} else {
					own[name] = true
				}
			}
		}
		if isOneAnswer(path) {
			continue
		}
		for _, spec := range file.Imports {
			name := must.Get(strconv.Unquote(spec.Path.Value))(t)
			imports = append(imports, name)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				for _, id := range n.Names {
					own[id.Name] = true
				}
			case *ast.Ident:
				if path != "stage_linux_test.go" { // which begins it
					used[n.Name] = path
				}
			}
			return true
		})
	}
	for name, path := range used {
		if foreign[name] != "" && !own[name] {
			t.Errorf("%s uses %s of %s", path, name, foreign[name])
		}
	}
	return imports
}

// namesOf returns what a declaration declares. A method goes by its name, whatever has it.
func namesOf(d ast.Decl) (all []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		all = append(all, d.Name.Name)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				all = append(all, spec.Name.Name)
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					all = append(all, id.Name)
				}
			}
		}
	}
	return all
}
