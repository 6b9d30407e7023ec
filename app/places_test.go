package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// reaching lists the functions and types of other packages by which a program connects or executes, by import path.
var reaching = map[string]string{
	"crypto/tls":                   "Client Dial DialWithDialer Dialer",
	"github.com/coder/websocket":   "Dial",
	"github.com/esiqveland/notify": "New",
	"github.com/gen2brain/beeep":   "Alert Beep Notify",
	"github.com/godbus/dbus/v5":    "Connect ConnectSessionBus ConnectSystemBus Dial SessionBus SessionBusPrivate SessionBusPrivateNoAutoStartup SystemBus",
	"github.com/jezek/xgb":         "NewConn NewConnDisplay NewConnNet",
	"golang.org/x/sys/unix":        "Connect Exec",
	"golang.org/x/sys/windows":     "CreateProcess CreateProcessAsUser ShellExecute",
	"net":                          "Dial DialIP DialTCP DialTimeout DialUDP DialUnix Dialer",
	"net/http":                     "Client DefaultClient Get Head Post PostForm Transport",
	"os":                           "StartProcess",
	"os/exec":                      "Cmd Command CommandContext",
	"syscall":                      "Connect CreateProcess Exec ForkExec StartProcess",
	"rollcall/proc/localsocket":    "Dial Listener",
}

// notProduct are the folders with code that no user gets.
var notProduct = []string{".git", "build", "internal", "tools", "packaging", "testdata"}

// reachingPlaces returns where the product connects or executes: the file with its package's folder, and the function.
func reachingPlaces(t *testing.T, root string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && filepath.Dir(path) == root && slices.Contains(notProduct, e.Name()):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, _ := filepath.Rel(root, filepath.Dir(path))
		addPlaces(found, strings.TrimPrefix(filepath.Base(folder)+"/", "./")+filepath.Base(path), file)
		return nil
	})
	must.Do(t, err)
	return found
}

// addPlaces adds the places of one file.
func addPlaces(found map[string]bool, name string, file *ast.File) {
	names := map[string]string{} // how this file calls a package
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		short := regexp.MustCompile(`^v[0-9]+$`).ReplaceAllString(filepath.Base(path), "")
		if short == "" {
			short = filepath.Base(filepath.Dir(path))
		}
		if i.Name != nil {
			short = i.Name.Name
		}
		names[short] = path
	}
	for _, d := range file.Decls {
		within := "(variable)"
		if f, ok := d.(*ast.FuncDecl); ok {
			within = f.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if star, ok := n.(*ast.StarExpr); ok { // a pointer type makes nothing
				_, named := star.X.(*ast.SelectorExpr)
				return !named
			}
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(strings.Fields(reaching[names[x.Name]]), s.Sel.Name) {
				found[name+" "+within] = true
			}
			return true
		})
	}
}

// TestPlaces: docs/security.md lists every place that connects or executes, with its check, and no other.
func TestPlaces(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/security.md"))(t)
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+\\.go [^`]+)` \\| [^|]+ \\| [^|]+ \\|$").FindAllSubmatch(text, -1) {
		listed[string(m[1])] = true
	}
	found := reachingPlaces(t, "..")
	for _, p := range slices.Sorted(maps.Keys(found)) {
		if !listed[p] {
			t.Errorf("%s connects or executes, and docs/security.md has no row for it. Add one, with what is checked", p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(listed)) {
		if !found[p] {
			t.Errorf("docs/security.md has a row for %s, which is not in the code", p)
		}
	}
}

// TestPlacesAreFound: the search sees calls, types, values and other names of a package.
func TestPlacesAreFound(t *testing.T) {
	const text = `package p
import ("net"; run "os/exec"; "github.com/godbus/dbus/v5")
var start = run.Command
func f() { d := &net.Dialer{}; _ = d }
func g() { h(dbus.SessionBus) }
func h(c *run.Cmd, _ func() error) { net.Listen("", "") }`
	file := must.Get(parser.ParseFile(token.NewFileSet(), "", text, 0))(t)
	found := map[string]bool{}
	addPlaces(found, "p/x.go", file)
	want := []string{"p/x.go (variable)", "p/x.go f", "p/x.go g"}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
