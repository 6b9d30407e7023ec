//go:build agents && linux

package agents

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// alone has the arguments with which an agent runs a prompt, which follows them, without a terminal.
var alone = map[string][]string{
	"claude-code": {"-p"}, "codex": {"exec"}, "opencode": {"run"}, "kilo": {"run"}, "pi": {"-p"}, "gemini": {"-p"}, "copilot": {"--allow-all-tools", "-p"},
	"cline": {}, "qwen": {"--approval-mode", "yolo", "-p"}, "grok": {"-p"}, "kimi": {"-p"}, "omp": {"-p"},
}

// natives are the programs of the packages that an agent's own installer puts elsewhere: the file below lib/node_modules, and where it puts that.
var natives = map[string][2]string{
	"claude-code": {"@anthropic-ai/claude-code-linux-x64/claude", ".local/share/claude/versions/" + ClaudeNewest.Version},
	"codex":       {"@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", ".local/bin/codex"},
	"opencode":    {"opencode-linux-x64/bin/opencode", ".opencode/bin/opencode"},
	"copilot":     {"@github/copilot-linux-x64/copilot", ".local/share/gh/@github/copilot/copilot"},
	"kilo":        {"@kilocode/cli-linux-x64/bin/kilo", ".local/bin/kilo"},
}

// installation is an agent that is installed in some way below a folder.
type installation struct {
	s       *Sandbox
	release Release
	name    string // of its command
	dir     string // below which it is installed
	folder  string // in which it is started
	home    string // of the user who asks Rollcall
}

// layer shows the installed packages, or a folder of them, at another path. What is written there is lost.
func (i *installation) layer(from, to string) string {
	i.s.t.Helper()
	upper, work, at := filepath.Join(i.dir, "written", to), filepath.Join(i.dir, "work", to), filepath.Join(i.dir, to)
	for _, dir := range []string{upper, work, at} {
		must.Do(i.s.t, os.MkdirAll(dir, 0o755))
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", filepath.Join(i.release.prefix(i.s.cache), from), upper, work)
	if err := unix.Mount("overlay", at, "overlay", 0, options); err != nil {
		must.Skip(i.s.t, "no overlay: ", err)
	}
	i.s.t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	return at
}

// file shows one file of the packages at another path.
func (i *installation) file(from, to string) string {
	i.s.t.Helper()
	at := filepath.Join(i.dir, to)
	must.Do(i.s.t, os.MkdirAll(filepath.Dir(at), 0o755))
	must.Do(i.s.t, os.WriteFile(at, nil, 0o755))
	must.Do(i.s.t, unix.Mount(filepath.Join(i.release.prefix(i.s.cache), from), at, "", unix.MS_BIND, ""))
	i.s.t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	return at
}

// script writes a program that starts another one.
func (i *installation) script(at, text string) string {
	i.s.t.Helper()
	path := filepath.Join(i.dir, at)
	must.Do(i.s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(i.s.t, os.WriteFile(path, []byte("#!/usr/bin/env bash\n"+text+"\n"), 0o755))
	return path
}

// entry returns the path below lib/node_modules of what the agent's command is a link to; empty: it is in no package.
func (i *installation) entry() string {
	link, err := os.Readlink(filepath.Join(i.release.prefix(i.s.cache), "bin", i.name))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(link, "../lib/node_modules/")
}

func (i *installation) global() []string {
	if i.entry() == "" {
		return i.s.Argv(i.release)
	}
	return []string{filepath.Join(i.layer("", "usr/local"), "bin", i.name)}
}

// modules installs the packages below a folder, with node_modules/.bin, and returns the path of the command.
func (i *installation) modules(folder string) string {
	modules := i.layer("lib/node_modules", filepath.Join(folder, "node_modules"))
	bin := filepath.Join(modules, ".bin")
	must.Do(i.s.t, os.MkdirAll(bin, 0o755))
	command := filepath.Join(bin, i.name)
	must.Do(i.s.t, os.Symlink(filepath.Join("..", i.entry()), command))
	return command
}

// ways are the ways of installing and starting an agent. A nil command line: it has no such way.
var ways = map[string]func(*installation) []string{
	"npm install -g": (*installation).global,
	"local": func(i *installation) []string {
		if i.entry() == "" {
			return nil
		}
		return []string{i.modules("work/node")}
	},
	"npx": func(i *installation) []string {
		if i.entry() == "" {
			return nil
		}
		i.modules(".npm/_npx/0a1b2c3d")
		return []string{"npx", "--no-install", "--prefix", filepath.Join(i.dir, ".npm/_npx/0a1b2c3d"), i.name}
	},
	"native": func(i *installation) []string {
		native, has := natives[i.release.Agent]
		if !has {
			return nil
		}
		return []string{i.file("lib/node_modules/"+native[0], native[1])}
	},
	"nix": func(i *installation) []string {
		store := "nix/store/0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p-" + i.name + "-1.0"
		if native, has := natives[i.release.Agent]; has {
			wrapped := i.file("lib/node_modules/"+native[0], store+"/bin/."+i.name+"-wrapped")
			return []string{i.script(store+"/bin/"+i.name, `exec -a "$0" "`+wrapped+`" "$@"`)}
		}
		command := filepath.Join(i.layer("", store+"-unwrapped"), i.release.program)
		return []string{i.script(store+"/bin/"+i.name, `exec "`+command+`" "$@"`)}
	},
	"shim": func(i *installation) []string {
		command := filepath.Join(i.layer("", ".nvm/versions/node/v24.21.0"), i.release.program)
		return []string{i.script(".asdf/shims/"+i.name, `exec "`+command+`" "$@"`)}
	},
	"symlinked folder": func(i *installation) []string {
		link := i.s.Project + "-link"
		must.Do(i.s.t, os.Symlink(i.s.Project, link))
		i.folder = link
		return append([]string{"env", "PWD=" + link}, i.global()...)
	},
	"renamed folder": func(i *installation) []string {
		i.folder = filepath.Join(i.s.Home, "other")
		must.Do(i.s.t, i.s.makeProject(i.folder))
		return i.global()
	},
	"second home": func(i *installation) []string {
		i.home = filepath.Join(i.dir, "other-home")
		must.Do(i.s.t, os.MkdirAll(i.home, 0o755))
		return i.global()
	},
	"in script": (*installation).global,
	"as a daemon": func(i *installation) []string {
		return append([]string{"sh", "-c", `setsid "$@" </dev/null & exit`, "daemon"}, i.global()...)
	},
}

// TestWays runs each agent, installed and started in each way, and compares what Rollcall lists with what the model server sees: a prompt that is being
// answered is working, killing the process that is listed ends that connection, and then it has died; a run that ended is complete. make test-agents runs a
// few cells by ROLLCALL_WAYS (a seed), make test-agents-all all of them. Two sessions in one process: TestEndsOfOneProcess.
func TestWays(t *testing.T) {
	var cells [][2]string
	for agent := range alone {
		for way := range ways {
			cells = append(cells, [2]string{agent, way})
		}
	}
	slices.SortFunc(cells, func(a, b [2]string) int { return strings.Compare(a[0]+"/"+a[1], b[0]+"/"+b[1]) })
	if !everything() {
		seed, err := strconv.ParseUint(os.Getenv("ROLLCALL_WAYS"), 10, 64)
		if err != nil {
			seed = uint64(time.Now().UnixNano())
		}
		t.Logf("ROLLCALL_WAYS=%d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		cells = cells[:4]
	}
	for _, cell := range cells {
		t.Run(cell[0]+"/"+cell[1], func(t *testing.T) { runWay(t, cell[0], cell[1]) })
	}
}

func runWay(t *testing.T, agent, way string) {
	release := newest[slices.IndexFunc(newest, func(r Release) bool { return r.Agent == agent })]
	s := NewSandbox(t)
	built(t, headlessBinary)
	dir := must.Get(os.MkdirTemp("", "ways-"))(t)
	must.Do(t, unix.Mount("tmpfs", dir, "tmpfs", 0, ""))
	i := &installation{s: s, release: release, name: programOf(release), dir: dir, folder: s.Project, home: s.Home}
	t.Cleanup(func() {
		s.StopAgents()
		_ = unix.Unmount(dir, unix.MNT_DETACH)
	})
	path := []string{filepath.Dir(Node.Program(s.cache)), filepath.Join(release.prefix(s.cache), "bin"), os.Getenv("PATH")}
	s.More = []string{"PATH=" + strings.Join(path, ":"), "CLINE_SESSION_BACKEND_MODE=local"}
	argv := ways[way](i)
	if argv == nil {
		t.Skip("the agent has no such way")
	}
	i.killed(t, way, argv)
	if way != "as a daemon" { // whose end nobody waits for
		_, wrapper := i.asks(way, argv, "short job", "[[delay 1]]")
		s.Gone(wrapper)
		i.lists("short job", "stopped/completed")
	}
}

// start runs a prompt, in a folder.
func (i *installation) start(way string, argv []string, prompt string) Process {
	argv = slices.Concat([]string{"env", "-C", i.folder}, argv, alone[i.release.Agent], []string{prompt})
	if way == "in script" {
		argv = []string{"script", "-qec", "'" + strings.Join(argv, "' '") + "'", "/dev/null"}
	}
	return i.s.Detached(argv...)
}

// asks runs a prompt until the model is asked, and returns it and the process that was started: now and then `kilo run` (7.7.9) never asks. A run that did not is ended.
func (i *installation) asks(way string, argv []string, job, directives string) (prompt string, wrapper Process) {
	i.s.t.Helper()
	for n := range 5 {
		prompt = fmt.Sprintf("%s, %d", job, n)
		all := prompt + " " + directives
		wrapper = i.start(way, argv, all)
		if poll(30*time.Second, func() bool { return !i.s.asked(prompt).IsZero() }) == nil {
			return prompt, wrapper
		}
		i.s.t.Logf("the model is not asked %q", prompt)
		i.s.stopAgents(func(p Process) bool { return slices.Contains(p.Args, all) })
	}
	i.s.t.Fatalf("the run never asks the model: %v", i.s.Processes())
	return prompt, wrapper
}

// lists waits until Rollcall lists the session of a prompt in one of these states, and nothing else of any agent that is not over. A process that has stored
// nothing yet (oh-my-pi, before the first answer) has no prompt.
func (i *installation) lists(prompt string, states ...string) (row Session) {
	i.s.t.Helper()
	var roll Roll
	err := poll(soon, func() bool {
		roll = must.Get(i.s.listWith(append(i.s.Env(), "HOME="+i.home), "--all"))(i.s.t)
		found := 0
		for _, x := range roll.Sessions {
			over := x.Status == "stopped"
			its := strings.HasPrefix(x.FirstPrompt, prompt) || x.FirstPrompt == "" && !over
			if x.Agent != i.release.Agent || !its && !over {
				return false
			}
			if its && slices.Contains(states, x.state()) {
				row = x
				found++
			}
		}
		return found == 1
	})
	if err != nil {
		i.s.t.Fatalf("%q is not %v: %v:%v", prompt, states, err, roll)
	}
	return row
}

// killed runs a prompt that is not answered and kills the process that Rollcall names.
func (i *installation) killed(t *testing.T, way string, argv []string) {
	prompt, _ := i.asks(way, argv, "long job", "[[delay 300]]")
	row := i.lists(prompt, "working")
	if way == "renamed folder" {
		must.Do(t, os.Rename(i.folder, i.folder+"-renamed"))
		i.folder += "-renamed"
		if again := i.lists(prompt, "working"); again.PID != row.PID {
			t.Errorf("after the folder was renamed: %v, before: %v", again, row)
		}
	}
	agent := i.s.at(row.PID)
	i.s.Kill(agent)
	if err := poll(soon, func() bool { return i.s.left(prompt) }); err != nil {
		t.Errorf("the model server still answers it: %v was not the agent: %v", agent, err)
	}
	if i.home == i.s.Home && row.FirstPrompt != "" { // a home that no process is in any more is not known
		i.lists(prompt, "stopped/died", "stopped")
	}
}
