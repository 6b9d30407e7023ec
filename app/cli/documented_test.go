package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app/machine"
	"rollcall/app/owned/worktree"
	"rollcall/app/usage"
	"rollcall/internal/doctest"
	"rollcall/internal/must"
)

const jsonDoc = "json.md"

// documented are the documents and their parts, by their headings in docs/json.md.
var documented = map[string]any{
	"document": document{}, "session": machine.SessionJSON{}, "stale": machine.StaleJSON{}, "tokens": adapters.Tokens{}, "context": adapters.Context{},
	"background": machine.BackgroundJSON{}, "resources": machine.ResourcesJSON{}, "launch": machine.LaunchJSON{}, "adapter": machine.AdapterJSON{}, "locks": locksDocument{}, "lock": lockJSON{}, "message": machine.MessageJSON{}, "event": eventJSON{},
	"fuses": fuseDocument{}, "fuse": fuseJSON{}, "continue": continueJSON{}, "worktrees": worktreesJSON{}, "worktree": worktreeJSON{},
	"comparison": compareJSON{}, "changes": changesJSON{}, "commit": commitJSON{}, "try": tryJSON{}, "file": worktree.FileStat{}, "orphans": orphansJSON{}, "orphan": orphanJSON{}, "orphan process": orphanProcessJSON{}, "cleanup": pruneJSON{}, "item": pruneItem{},
	"diagnosis": doctorJSON{}, "check": checkJSON{}, "adapter diagnosis": doctorAdapterJSON{}, "hit": hitJSON{}, "search end": searchEndJSON{}, "searched adapter": searchedAgentJSON{}, "usage": usageJSON{}, "usage row": usage.Row{}, "limits": limitsJSON{}, "limit": limitJSON{}, "version": versionJSON{}, "keeper": keeperJSON{},
	"autostart": autostartJSON{}, "purge": uninstallJSON{}, "purged": purgedJSON{},
	"quiet": quietJSON{},
	"hello": machine.HelloJSON{}, "removed": machine.RemovedJSON{}, "machine": machineJSON{},
	"pending": pendingDocument{}, "waiting session": pendingJSON{}, "request": requestJSON{}, "detail": detailJSON{}, "question": questionJSON{}, "option": optionJSON{},
	"focus": focusJSON{}, "focus step": focusStepJSON{}, "offer": offerJSON{},
}

func TestJSONDocumented(t *testing.T) {
	for heading, v := range documented {
		doctest.SameKeys(t, jsonDoc, heading, v)
	}
}

// Every struct of this package that is printed as JSON has its table.
func TestEveryJSONStructDocumented(t *testing.T) {
	known := map[string]bool{}
	for _, v := range documented {
		known[reflect.TypeOf(v).Name()] = true
	}
	eachDeclaration(t, func(n ast.Node) {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok || !hasJSONTag(s) {
			return
		}
		if !known[spec.Name.Name] {
			t.Errorf("%s has JSON keys and no table in docs/%s", spec.Name.Name, jsonDoc)
		}
	})
}

func TestExitCodesDocumented(t *testing.T) {
	var rows []string
	for _, r := range doctest.Rows(t, jsonDoc, "Exit codes") {
		rows = append(rows, r[0]+" "+r[1])
	}
	var codes []string
	eachDeclaration(t, func(n ast.Node) {
		block, ok := n.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST || !strings.HasPrefix(block.Doc.Text(), "The exit codes.") {
			return
		}
		for _, s := range block.Specs {
			v := s.(*ast.ValueSpec)
			codes = append(codes, fmt.Sprintf("%s %s", v.Values[0].(*ast.BasicLit).Value, v.Names[0].Name))
		}
	})
	doctest.SameSet(t, jsonDoc, "Exit codes", rows, codes)
}

func hasJSONTag(s *ast.StructType) bool {
	for _, f := range s.Fields.List {
		if f.Tag != nil && strings.Contains(f.Tag.Value, `json:"`) {
			return true
		}
	}
	return false
}

// eachDeclaration calls visit for every node of this package's source, without
// tests.
func eachDeclaration(t *testing.T, visit func(ast.Node)) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no source", err)
	}
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := must.Get(parser.ParseFile(set, name, nil, parser.ParseComments))(t)
		ast.Inspect(f, func(n ast.Node) bool {
			if n != nil {
				visit(n)
			}
			return true
		})
	}
}
