package app

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// withWindow lists the functions that start a program whose window, or console, the user wants to see, or that set the flags of the
// new process themselves.
var withWindow = map[string]string{
	"app/cli/terminal_windows.go replace":         "the agent takes over this console",
	"app/control/opener/terminal.go run":          "a terminal, an editor or a file manager",
	"app/desktop/process_windows.go restart":      "Rollcall itself, detached",
	"app/desktop/tray.go startWindow":             "Rollcall's window, detached",
	"app/machine/host.go command":                 "its function detach opens no window",
	"app/owned/script/shell_windows.go shell":     "hides its window itself",
	"main_headless_windows.go addDesktop":         "Rollcall's desktop program",
	"proc/start_windows.go startDetached":         "sets the flags of a launch itself",
	"app/self/autostart/autostart_darwin.go file": "macOS",
}

// TestNoWindowFlashes: on Windows each program that Rollcall starts for an answer is started without a window.
func TestNoWindowFlashes(t *testing.T) {
	for _, root := range []string{"../app", "../adapters", "../proc", "../notify", "../tray"} {
		must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				checkWindows(t, path)
			}
			return err
		}))
	}
}

// checkWindows reports the functions of a file, if it is built for Windows, that start a program without proc.WithoutWindow.
func checkWindows(t *testing.T, path string) {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	name := strings.TrimSuffix(filepath.Base(path), ".go")
	if strings.HasSuffix(name, "_linux") || strings.HasSuffix(name, "_darwin") || !builtForWindows(string(text)) {
		return
	}
	files := token.NewFileSet()
	file := must.Get(parser.ParseFile(files, path, text, 0))(t)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		body := string(text[files.Position(f.Body.Pos()).Offset:files.Position(f.Body.End()).Offset])
		starts := strings.Contains(body, "exec.Command(") || strings.Contains(body, "exec.CommandContext(")
		place := strings.TrimPrefix(filepath.ToSlash(path), "../") + " " + f.Name.Name
		if starts && !strings.Contains(body, "WithoutWindow(") && withWindow[place] == "" {
			t.Errorf("%s starts a program that opens a console window on Windows: use proc.WithoutWindow", place)
		}
	}
}

// builtForWindows reports whether the build constraint of a file, if it has one, includes Windows.
func builtForWindows(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "package ") {
			return true
		}
		if !constraint.IsGoBuild(line) {
			continue
		}
		expression, err := constraint.Parse(strings.TrimSpace(line))
		return err != nil || expression.Eval(func(tag string) bool { return tag != "linux" && tag != "darwin" && tag != "unix" })
	}
	return true
}
