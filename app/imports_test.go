package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// listed is a package as the go tool lists it.
type listed struct {
	ImportPath string
	Imports    []string
	CgoFiles   []string
	Standard   bool
	Error      *struct{ Err string }
}

// goList lists packages of the module; with "-deps" all that they need.
func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	// -e: a package that does not compile at the moment still has imports.
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Imports,CgoFiles,Standard,Error"}, args...)...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if slices.Contains(args, "headless") {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v: %s", args, err, errs.String())
	}
	var list []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// ban contains what must not be needed, and why. A path that ends in "/" stands for
// everything below it as well.
type ban struct {
	path, why string
	by        string // a package of a library that may import it; empty: none
	but       string // a package below path that is not banned; empty: none
}

// excused reports whether only the package by needs what is banned.
func (b ban) excused(list []listed, path string) bool {
	if b.by == "" {
		return false
	}
	for _, p := range list {
		if p.ImportPath != b.by && slices.Contains(p.Imports, path) {
			return false
		}
	}
	return true
}

func (b ban) hits(path string) bool {
	if below, ok := strings.CutSuffix(b.path, "/"); ok && path != b.but {
		return path == below || strings.HasPrefix(path, b.path)
	}
	return path == b.path
}

const ours = "rollcall/"

// TestImportGraph holds the arrows of the design: main → tray, window, cli → app
// → adapters → proc, and never back.
func TestImportGraph(t *testing.T) {
	toolkit := []ban{
		{path: "fyne.io/", why: "the window's toolkit takes OpenGL, a display and 100 MB"},
		{path: "github.com/go-gl/", why: "OpenGL takes cgo and a display"},
	}
	surfaces := []ban{
		{path: ours + "tray/", why: "a surface uses the core, never the other way round"},
		{path: ours + "notify/", why: "a surface uses the core, never the other way round"},
		{path: ours + "app/cli/", why: "a surface uses the core, never the other way round"},
		{path: ours + "app/ui/", why: "a surface uses the core, never the other way round"},
		{path: ours + "app/window/", why: "a surface uses the core, never the other way round"},
	}
	bars := []ban{{path: ours + "tray/", but: ours + "tray/model", why: "a surface uses the core; what a bar shows is the pure model of the tray"}, surfaces[1]}
	agents := []ban{{path: ours + "adapters/all", why: "the core takes adapters as they come: only app/program knows all"}}
	for _, path := range agentPackages(t) {
		agents = append(agents, ban{path: path, why: "only adapters/all knows the agents"})
	}
	upward := append([]ban{{path: ours + "app/", why: "adapters own session truth and know nothing of who asks"}}, surfaces[:2]...)
	type rule struct {
		pkg  string
		tags string
		cgo  bool // allowed
		bans []ban
	}
	var rules []rule
	for _, own := range agentPackages(t) {
		others := slices.DeleteFunc(slices.Clone(agents), func(b ban) bool {
			return b.path == own || own == ours+"adapters/kilo" && b.path == ours+"adapters/opencode" // Kilo is OpenCode under other names
		})
		rules = append(rules, rule{pkg: "./" + strings.TrimPrefix(own, ours), bans: slices.Concat(upward, others, toolkit)})
	}
	for _, tt := range append(rules, []rule{
		{pkg: "./proc", bans: []ban{{path: ours, why: "processes are the ground that all else stands on"}}},
		{pkg: "./textmatch", bans: []ban{{path: ours, why: "adapters and core search with it"}}},
		{pkg: "./bounded", bans: []ban{{path: ours, why: "a file system can hang under all else"}}},
		{pkg: "./adapters", bans: slices.Concat(upward, agents, toolkit)},
		{pkg: "./adapters/all", bans: slices.Concat(upward, toolkit)},
		{pkg: "./app", bans: slices.Concat(surfaces, agents, toolkit, []ban{
			{path: "github.com/godbus/", why: "the core runs where there is no desktop"}, {path: "modernc.org/", why: "storage is the adapters' business"}})},
		{pkg: "./app/present", bans: slices.Concat(surfaces, agents, toolkit, []ban{
			{path: ours + "app", why: "words are made of sessions, by every surface"}, {path: "net/http", why: "it is pure"}})},
		{pkg: "./app/follow", bans: slices.Concat(surfaces, agents, toolkit)},
		{pkg: "./app/cli", bans: slices.Concat(bars, surfaces[3:], agents, toolkit)},
		{pkg: "./app/ui", tags: "x11,gles", bans: slices.Concat(surfaces[:3], surfaces[4:], agents, []ban{
			{path: "fyne.io/fyne/v2/app", why: "with it the window's contents could not be tested without cgo and a display"},
			{path: "fyne.io/systray", why: "the tray is another process"}})},
		{pkg: "./notify", cgo: true, bans: slices.Concat(surfaces[:1], surfaces[2:], agents, toolkit)},
		{pkg: "./tray", cgo: true, bans: slices.Concat(surfaces[1:], agents, []ban{
			{path: "fyne.io/fyne/", why: "the tray rests at 25 MB and no CPU; Fyne's loop never sleeps"}})},
		{pkg: ".", tags: "headless", bans: slices.Concat(toolkit, bars, surfaces[3:], []ban{
			{path: "github.com/godbus/", why: "a static binary for servers has no desktop"}, {path: "testing", why: "tests are no part of the program", by: "github.com/jezek/xgb"}})},
		{pkg: ".", tags: "x11,gles", cgo: true, bans: []ban{{path: "testing", why: "tests are no part of the program", by: "github.com/jezek/xgb"},
			{path: ours + "internal/", why: "what tests need is no part of the program"}}},
	}...) {
		t.Run(tt.pkg+" "+tt.tags, func(t *testing.T) {
			args := []string{"-deps", tt.pkg}
			if tt.tags != "" {
				args = append([]string{"-tags", tt.tags}, args...)
			}
			list := goList(t, args...)
			self := list[len(list)-1].ImportPath // -deps puts it behind all that it needs
			if e := list[len(list)-1].Error; e != nil {
				t.Fatal(e.Err)
			}
			for _, p := range list {
				if p.ImportPath == self {
					continue
				}
				for _, b := range tt.bans {
					if b.hits(p.ImportPath) && !b.excused(list, p.ImportPath) {
						t.Errorf("%s needs %s: %s", self, p.ImportPath, b.why)
					}
				}
				if !tt.cgo && len(p.CgoFiles) > 0 && !p.Standard {
					t.Errorf("%s needs %s, which takes cgo: the headless build has none", self, p.ImportPath)
				}
			}
		})
	}
}

// agentPackages returns the packages of the agents' adapters: those that
// adapters/all imports.
func agentPackages(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, p := range goList(t, "./adapters/all") {
		for _, path := range p.Imports {
			if strings.HasPrefix(path, ours+"adapters/") {
				out = append(out, path)
			}
		}
	}
	if len(out) < 6 {
		t.Fatalf("adapters/all imports only %q", out)
	}
	return out
}

// TestOneImporter: some packages have one importer in the whole module.
func TestOneImporter(t *testing.T) {
	type importer struct{ path, importers, why string }
	only := []importer{
		{"fyne.io/fyne/v2/app", ours + "app/window", "everything else of the window stays testable without a display"},
		{ours + "adapters/openclaw", ours + "adapters/all " + ours + "app/program", "only the assembly of the program turns the user's settings into its gateways"},
		{"github.com/spf13/cobra", ours + "app/cli", "the command line is parsed in one place"},
		{"github.com/fsnotify/fsnotify", ours + "app " + ours + "app/places " + ours + "app/store", "agents' folders are watched in one place, our own in another"},
		{"modernc.org/sqlite", ours + "adapters/internal/sqlitero", "reading another program's database without a trace is hard enough once"},
	}
	for _, path := range agentPackages(t) {
		switch path {
		case ours + "adapters/openclaw":
		case ours + "adapters/opencode":
			only = append(only, importer{path, ours + "adapters/all " + ours + "adapters/kilo", "Kilo is OpenCode under other names"})
		default:
			only = append(only, importer{path, ours + "adapters/all", "the others take adapters as they come"})
		}
	}
	pure := []string{"os", "os/exec", "net", "io/fs", "io", "sync", "context"}
	direct := map[string][]string{ours + "app/present": pure, ours + "app/describe": pure, ours + "app/listing": pure}
	for _, p := range goList(t, "-tags", "x11,gles", "./...") {
		if strings.HasPrefix(p.ImportPath, ours+"internal/adaptertest") {
			continue // the tests' own, which no program needs
		}
		for _, o := range only {
			if slices.Contains(p.Imports, o.path) && !slices.Contains(strings.Fields(o.importers), p.ImportPath) && !strings.HasPrefix(p.ImportPath, ours+"internal/") {
				t.Errorf("%s imports %s, which only %s may: %s", p.ImportPath, o.path, o.importers, o.why)
			}
		}
		for _, banned := range direct[p.ImportPath] {
			if slices.Contains(p.Imports, banned) {
				t.Errorf("%s imports %s: it is pure", p.ImportPath, banned)
			}
		}
	}
}
