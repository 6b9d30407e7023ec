package all

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// installed is an agent of the matrix, and how it is packaged.
type installed struct {
	play   func(*scene.Environment) scene.Agent
	name   string // of its program
	pkg    string // of npm
	script string // in the package; empty: the program is native
	native string // where its own installer puts the program; empty: it has none that we know
	titled bool   // it shows its own name in place of its command line, so that a way of installing shows in nothing but the program
}

var matrixAgents = map[adapters.Name]installed{
	"claude-code": {play: scene.ClaudeCode, name: "claude", pkg: "@anthropic-ai/claude-code", native: ".local/share/claude/versions/2.1.332"},
	"codex":       {play: scene.Codex, name: "codex", pkg: "@openai/codex", native: ".local/bin/codex"},
	"opencode":    {play: scene.OpenCode, name: "opencode", pkg: "opencode-ai", native: ".opencode/bin/opencode"},
	"kilo":        {play: scene.Kilo, name: "kilo", pkg: "@kilocode/cli"},
	"copilot":     {play: scene.Copilot, name: "copilot", pkg: "@github/copilot", native: ".local/share/gh/@github/copilot/copilot"},
	"cline":       {play: scene.Cline, name: "cline", pkg: "cline"},
	"gemini":      {play: scene.Gemini, name: "gemini", pkg: "@google/gemini-cli", script: "bundle/gemini.js"},
	"qwen":        {play: scene.Qwen, name: "qwen", pkg: "@qwen-code/qwen-code", script: "cli.js"},
	"pi":          {play: scene.Pi, name: "pi", pkg: "@mariozechner/pi-coding-agent", script: "dist/cli.js", titled: true},
	"pi-rust":     {play: scene.PiRust, name: "pi", native: ".cargo/bin/pi"},
}

// placed returns a process whose program or script is at a path.
func (a *installed) placed(s scene.Spec, path string) scene.Spec {
	s.Args = slices.Clone(s.Args)
	switch {
	case a.titled:
	case a.script == "":
		s.Exe = path
		if s.Comm != "MainThread" {
			s.Comm = asComm(filepath.Base(path))
		}
		if a.name != "opencode" && a.name != "kilo" && len(s.Args) > 0 && strings.Contains(s.Args[0], "/") { // else it is a name, or the arguments alone
			s.Args[0] = path
		}
	default:
		s.Args[slices.IndexFunc(s.Args, func(arg string) bool { return strings.Contains(arg, "/node_modules/") })] = path
	}
	return s
}

// file returns the path of the program or the script below a folder of packages.
func (a *installed) file(modules string) string {
	if a.script != "" {
		return filepath.Join(modules, a.pkg, a.script)
	}
	if a.name == "copilot" {
		return filepath.Join(modules, "@github/copilot-linux-x64", "copilot")
	}
	return filepath.Join(modules, a.pkg, "bin", a.name)
}

// way is a way of installing or starting an agent. below starts what the agent's process is below, and returns its pid.
type way struct {
	name  string
	below func(w *scene.Environment) scene.Spec
	spec  func(a *installed, home string, s scene.Spec) scene.Spec
	why   func(a *installed) string // not empty: an agent has no such way
}

func node(args ...string) func(*scene.Environment) scene.Spec {
	return func(*scene.Environment) scene.Spec {
		return scene.Spec{Comm: "MainThread", Exe: scene.NodeProgram, CWD: "/", Args: append([]string{"node"}, args...)}
	}
}

func shell(comm string, args ...string) func(*scene.Environment) scene.Spec {
	return func(*scene.Environment) scene.Spec {
		return scene.Spec{Comm: comm, Exe: "/usr/bin/" + comm, CWD: "/", Args: append([]string{comm}, args...), PTS: 3}
	}
}

func notRust(a *installed) string {
	if a.pkg == "" {
		return "it is in no package of npm"
	}
	return ""
}

var matrixWays = []way{
	{name: "npm install -g", below: node("/usr/local/bin/agent"), why: notRust, spec: func(a *installed, _ string, s scene.Spec) scene.Spec {
		return a.placed(s, a.file("/usr/local/lib/node_modules"))
	}},
	{name: "a local npm", below: node("/home/dev/proj/node_modules/.bin/agent"), why: notRust, spec: func(a *installed, _ string, s scene.Spec) scene.Spec {
		return a.placed(s, a.file("/home/dev/proj/node_modules"))
	}},
	{name: "its native installer", why: func(a *installed) string {
		if a.native == "" {
			return "it has none"
		}
		return ""
	}, spec: func(a *installed, home string, s scene.Spec) scene.Spec {
		return a.placed(s, filepath.Join(home, a.native))
	}},
	{name: "wrapped by Nix", below: shell("bash", "/run/current-system/sw/bin/agent"), spec: func(a *installed, _ string, s scene.Spec) scene.Spec {
		if a.script != "" {
			return a.placed(s, a.file("/nix/store/aaaa-agent-1.0/lib/node_modules"))
		}
		if a.name == "copilot" {
			return a.placed(s, "/nix/store/aaaa-github-copilot-cli-1.0.102/bin/.copilot-wrapped")
		}
		return a.placed(s, "/nix/store/aaaa-agent-1.0/bin/."+a.name+"-wrapped")
	}},
	{name: "a version manager's shim", below: shell("bash", "/home/dev/.asdf/shims/agent"), spec: func(a *installed, home string, s scene.Spec) scene.Spec {
		if a.pkg == "" {
			return a.placed(s, filepath.Join(home, ".local/share/mise/installs/agent/1.0/bin", a.name))
		}
		return a.placed(s, a.file(filepath.Join(home, ".nvm/versions/node/v24.21.0/lib/node_modules")))
	}},
	{name: "npx", below: node("/usr/lib/node_modules/npm/bin/npx-cli.js", "agent"), why: notRust, spec: func(a *installed, home string, s scene.Spec) scene.Spec {
		return a.placed(s, a.file(filepath.Join(home, ".npm/_npx/0a1b2c3d/node_modules")))
	}},
	{name: "in script", below: shell("script", "-q", "/dev/null"), spec: func(_ *installed, _ string, s scene.Spec) scene.Spec { s.PTS = 4; return s }},
	{name: "as a daemon", spec: func(_ *installed, _ string, s scene.Spec) scene.Spec { s.PPID = 1; return s }},
	{name: "a symlinked folder"},
	{name: "a renamed folder"},
	{name: renamedOfProgram, why: func(a *installed) string {
		if slices.Contains([]string{"gemini", "opencode", "kilo"}, a.name) {
			return "known to be wrong for stand-ins of several processes: their sessions have ended (one real process: TestWays in internal/agents)"
		}
		return ""
	}},
	{name: "a second home"},
}

// renamedOfProgram is the way of a program that starts an agent in a folder of its choice: PWD names the folder of the program then, and does not tell the
// name that the agent's folder had. Where several processes can have left a folder, they are rows of their own, unknown.
const renamedOfProgram = "a renamed folder, started by a program"

// cell is the outcome of one cell of the matrix.
type cell struct {
	agent       adapters.Name
	way, state  string
	got, reason string
	right       bool
}

// TestWaysOfInstalling: each agent, in each way of installing or starting it, is what it is in each of its states, and no other agent lists anything.
func TestWaysOfInstalling(t *testing.T) {
	var cells []cell
	left := map[string]int{}
	for _, agent := range slices.Sorted(maps.Keys(matrixAgents)) {
		a := matrixAgents[agent]
		for _, one := range matrixWays {
			if one.why != nil && one.why(&a) != "" {
				left[fmt.Sprintf("%s, %s: %s", agent, one.name, one.why(&a))]++
				continue
			}
			t.Run(string(agent)+"/"+one.name, func(t *testing.T) { cells = append(cells, runWay(t, agent, &a, &one)...) })
		}
	}
	unknown, right := map[string]int{}, 0
	for _, c := range cells {
		if c.right {
			right++
		} else if strings.HasPrefix(c.got, "unknown") {
			unknown[c.reason]++
		}
	}
	t.Logf("%d cells, %d right, %d unknown; left out: %d", len(cells), right, len(cells)-right, len(left))
	for reason, n := range unknown {
		t.Logf("unknown %d times: %s", n, reason)
	}
	for why := range left {
		t.Log("left out: " + why)
	}
}

// hosting has the arguments with which an agent's process hosts the sessions of another program. The stand-ins of the others write what their terminals write:
// hosted sessions of Gemini CLI, Qwen Code and OpenCode are run by the real ones (TestEndsOfOneProcess in internal/agents).
var hosting = map[adapters.Name][]string{"codex": {"app-server"}, "copilot": {"--acp"}}

// TestTwoInOneProcess: two sessions that one process hosts are what they are, while it runs and after its end.
func TestTwoInOneProcess(t *testing.T) {
	for agent, args := range hosting {
		t.Run(string(agent), func(t *testing.T) {
			w := scene.New(t)
			first := 0
			w.Procs.Installed = func(s scene.Spec) scene.Spec {
				s.Args, s.In = append(slices.Clone(s.Args), args...), first
				return s
			}
			player, a := matrixAgents[agent].play(w), New(w.Table, Config{Home: w.Home, Now: func() time.Time { return time.Now().Add(3 * time.Second) }})
			one := player.Start("/home/dev/p", "one")
			first = one.Process.PID
			two := player.Start("/home/dev/p", "two")
			two.Answer("fine")
			expect := func(what string) {
				t.Helper()
				for _, reader := range a {
					roll, _ := reader.Discover(t.Context(), adapters.Query{})
					for _, row := range roll.Sessions {
						s := map[string]*scene.Session{one.ID: one, two.ID: two}[row.ID]
						switch {
						case s == nil:
							t.Errorf("%s: %s lists %s: %s", what, reader.Name(), row.ID, row.Evidence)
						case scene.TruthOf(&row) != s.Truth() || s.Truth().Status != adapters.Stopped && row.Process != s.Process:
							t.Errorf("%s: %s, want %s; evidence: %s", what, scene.TruthOf(&row), s.Truth(), row.Evidence)
						}
					}
				}
			}
			expect("both run")
			one.Kill()
			two.Became(scene.Truth{Status: adapters.Stopped, Outcome: adapters.Completed})
			expect("the process has ended")
		})
	}
}

// runWay plays the states of an agent that is installed in one way. A cell that is neither right nor unknown fails the test.
func runWay(t *testing.T, agent adapters.Name, a *installed, one *way) (cells []cell) {
	w := scene.New(t)
	home := w.Home
	folder := func(name string) string {
		dir := w.Path("src", name)
		must.Do(t, os.MkdirAll(dir, 0o755))
		return dir
	}
	parent := 0
	if one.below != nil {
		parent = w.Procs.Start(one.below(w)).PID
	}
	link := w.Path("link")
	must.Do(t, os.Symlink(w.Path("src"), link))
	w.Procs.Installed = func(s scene.Spec) scene.Spec {
		if parent != 0 {
			s.PPID = parent
		}
		if one.name == "a symlinked folder" {
			s.Env = append(slices.Clone(s.Env), "PWD="+strings.Replace(s.CWD, w.Path("src"), link, 1))
		}
		if one.name == renamedOfProgram {
			s.Env = append(slices.Clone(s.Env), "PWD="+w.Path("src"))
		}
		if one.spec != nil {
			s = one.spec(a, w.Home, s)
		}
		return s
	}
	if one.name == "a second home" {
		home = filepath.Join(filepath.Dir(w.Home), "first")
		must.Do(t, os.Mkdir(home, 0o755))
	}
	player := a.play(w)
	working, idle, stopped, died := player.Start(folder("a"), "one"), player.Start(folder("b"), "two"), player.Start(folder("c"), "three"), player.Start(folder("d"), "four")
	waiting := player.Start(folder("e"), "five")
	asks := waiting.Ask()
	idle.Answer("fine")
	stopped.Answer("bye")
	stopped.Exit()
	died.Kill()
	if strings.HasPrefix(one.name, "a renamed folder") {
		for _, s := range []*scene.Session{working, idle, stopped, died, waiting} {
			w.Procs.Move(s.CWD, s.CWD+"-renamed")
		}
	}
	later := func() time.Time { return time.Now().Add(3 * time.Second) } // an answer of this moment may go on with a call
	rows := map[string]adapters.Session{}
	for _, reader := range New(w.Table, Config{Home: home, Now: later}) {
		roll, _ := reader.Discover(t.Context(), adapters.Query{}) // most agents are absent
		for _, s := range roll.Sessions {
			if s.Agent != agent || s.IsProcess() && (one.name != renamedOfProgram || s.Status != adapters.Unknown) {
				t.Errorf("%s lists %s of %s: %s", reader.Name(), s.ID, s.Agent, s.Evidence)
			}
			rows[s.ID] = s
		}
	}
	states := map[string]*scene.Session{"working": working, "idle": idle, "stopped": stopped, "died": died}
	if asks {
		states["waiting"] = waiting
	}
	for state, s := range states {
		row := rows[s.ID]
		c := cell{agent: agent, way: one.name, state: state, got: strings.TrimSpace(fmt.Sprint(scene.TruthOf(&row))), reason: row.Evidence}
		c.right = scene.TruthOf(&row) == s.Truth() && (row.Status == adapters.Stopped || row.Process == s.Process)
		if !c.right && row.Status != adapters.Unknown {
			t.Errorf("%s: %q in process %v, want %s in %v; evidence: %s", state, c.got, row.Process, s.Truth(), s.Process, row.Evidence)
		}
		cells = append(cells, c)
	}
	return cells
}
