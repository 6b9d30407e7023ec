package agentproc

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/proc"
)

// hosts has the names of programs that run agents without a terminal, by the beginning of their processes' names. A program that is not in it is
// known by what it starts, see ancestry. The programs of
// VS Code, Zed, JetBrains and Claude Desktop were not run: their names are those of their packages for Linux, macOS and Windows.
var hosts = []struct{ process, name string }{
	{"zed", "Zed"}, {"code-insiders", "VS Code"}, {"code-oss", "VS Code"}, {"code", "VS Code"}, {"codium", "VSCodium"}, {"vscodium", "VSCodium"}, {"cursor", "Cursor"},
	{"windsurf", "Windsurf"}, {"positron", "Positron"}, {"kiro", "Kiro"}, {"antigravity", "Antigravity"}, {"claude-desktop", "Claude Desktop"}, {"conductor", "Conductor"},
	{"idea", "IntelliJ IDEA"}, {"pycharm", "PyCharm"}, {"goland", "GoLand"}, {"webstorm", "WebStorm"}, {"clion", "CLion"}, {"phpstorm", "PhpStorm"},
	{"rubymine", "RubyMine"}, {"rustrover", "RustRover"}, {"rider", "Rider"}, {"studio", "Android Studio"}, {"emacs", "Emacs"}, {"nvim", "Neovim"},
	{"obsidian", "Obsidian"}, {"vibe-kanban", "Vibe Kanban"}, {"trae", "Trae"}, {"void", "Void"}, {"sublime_text", "Sublime Text"},
}

// separators follow the name of a program in the names of its processes: zed-editor, idea64, "Code Helper".
const separators = "-_. 0123456789"

// hostNamed returns the program to which a process with that name belongs, and "" if it is not known.
func hostNamed(comm string) string {
	comm = strings.ToLower(comm)
	for _, h := range hosts {
		if rest, ok := strings.CutPrefix(comm, h.process); ok && (rest == "" || strings.ContainsRune(separators, rune(rest[0]))) {
			return h.name
		}
	}
	return ""
}

// maxAncestors is how far the host of an agent is looked for.
const maxAncestors = 16

// nameHosts sets Host of the sessions whose process has such a program as its nearest ancestor, or runs below an adapter of the Agent Client Protocol (ACP)
// that another program started. It replaces what the agent recorded, since an agent records only what started it: an adapter or an SDK. A person is at
// such a program. An agent that has a terminal, other than the program's own, is in a terminal that the program shows: it has no host.
func nameHosts(table proc.Lister, sessions []adapters.Session) {
	known := map[proc.Identity]string{}
	for i := range sessions {
		s := &sessions[i]
		if s.Process.IsZero() || s.Remote != "" || !s.Live() {
			continue
		}
		host, asked := known[s.Process]
		if !asked {
			host = hostOf(table, s.Process)
			known[s.Process] = host
		}
		if host != "" {
			s.Host, s.Headless = host, false
		}
	}
}

// ancestry follows the ancestors of an agent's process to the program that it runs in.
type ancestry struct {
	table    proc.Lister
	terminal string // the agent's
	acp      bool   // a process so far speaks ACP with the program that started it
	client   string // the program that started the outermost of these
}

func hostOf(table proc.Lister, id proc.Identity) string {
	terminal, err := table.Terminal(id)
	p, findErr := table.Find(id.PID)
	if err != nil || findErr != nil || p.Identity != id {
		return ""
	}
	a := ancestry{table: table, terminal: terminal, acp: speaksACP(table, p)}
	seen := []int{p.PID}
	for range maxAncestors {
		parent, err := table.Find(p.PPID)
		if err != nil || slices.Contains(seen, parent.PID) {
			break
		}
		if name, found := a.host(parent); found {
			return name
		}
		p, seen = parent, append(seen, parent.PID)
	}
	return a.client
}

// host returns the program that the agent runs in, once an ancestor shows it; empty: none. Below a program that is not known, a known one can be
// further up: an editor starts its extensions in processes of other names.
func (a *ancestry) host(p proc.Process) (name string, found bool) {
	if name := hostNamed(p.Comm); name != "" {
		if !a.shows(p) {
			name = ""
		}
		return cmp.Or(name, a.client), true
	}
	switch {
	case a.client != "" || !a.acp:
		if a.client != "" && isNoHost(a.table, p) {
			return a.client, true
		}
		a.acp = a.acp || speaksACP(a.table, p)
	case speaksACP(a.table, p), startsOthers(a.table, p):
	case isNoHost(a.table, p), !a.shows(p), inCI(a.table, p.Identity):
		a.acp = false // a person started it at a shell, or nobody did
	default:
		a.client = programOf(a.table, p)
	}
	return "", false
}

// shows reports whether the agent is not in a terminal that p shows.
func (a *ancestry) shows(p proc.Process) bool {
	its, err := a.table.Terminal(p.Identity)
	return err == nil && (a.terminal == "" || its == a.terminal)
}

// speaksACP reports whether a process is an adapter of ACP (claude-agent-acp, codex-acp), or an agent that was started as one (gemini --acp, opencode acp, grok agent stdio).
func speaksACP(table proc.Lister, p proc.Process) bool {
	line, err := table.Args(p.Identity)
	if err != nil || len(line) == 0 {
		return false
	}
	if strings.HasSuffix(baseName(line[0]), "-acp") {
		return true
	}
	for i, arg := range line[1:] {
		if arg == "acp" || arg == "--acp" || arg == "--experimental-acp" || arg == "stdio" && line[i] == "agent" {
			return true
		}
	}
	script, _ := Script(line)
	return IsInterpreter(p.Comm) && (strings.HasSuffix(baseName(script), "-acp") || strings.HasSuffix(packageOf(script), "-acp"))
}

// starters are programs that start others in their place: package runners, and what sets up the environment of a command.
var starters = []string{"npm", "npx", "pnpm", "yarn", "bunx", "uv", "uvx", "mise", "volta", "volta-shim", "corepack", "env", "timeout", "nice", "nohup",
	"setsid", "sudo", "bwrap", "flatpak-spawn", "dbus-run-session", "direnv", "nix", "script"}

// startsOthers reports whether a process only waits for the command that it started: a package runner, or a shell with a command.
func startsOthers(table proc.Lister, p proc.Process) bool {
	line, err := table.Args(p.Identity)
	if err != nil || len(line) == 0 {
		return false
	}
	if isShell(p.Comm) {
		return slices.ContainsFunc(line[1:], func(arg string) bool {
			return strings.EqualFold(arg, "/c") || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "c")
		})
	}
	name := baseName(line[0])
	if IsInterpreter(p.Comm) && slices.Contains([]string{"node", "nodejs", "bun"}, name) {
		script, _ := Script(line)
		name = strings.TrimSuffix(baseName(script), "-cli")
	}
	first, _, _ := strings.Cut(name, " ") // npm exec …
	return slices.Contains(starters, first)
}

func isShell(comm string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "fish", "dash", "ash", "ksh", "tcsh", "csh", "nu", "elvish", "xonsh", "busybox", "cmd", "pwsh",
		"powershell"}, strings.TrimSuffix(strings.ToLower(strings.TrimPrefix(comm, "-")), ".exe"))
}

// managers start processes for nobody: service managers, the first processes of containers, schedulers, multiplexers, servers of remote shells, CI runners, and
// Rollcall's keeper, whose launches are known by its records.
var managers = []string{"systemd", "init", "launchd", "runit", "runsv", "s6-supervise", "supervisord", "openrc", "tini", "dumb-init", "docker-init", "catatonit",
	"conmon", "containerd-shim", "services.exe", "svchost.exe", "cron", "crond", "atd", "sshd", "sshd-session", "tmux", "screen", "zellij", "login", "rollcall", "rollcall.exe",
	"runner.worker", "runner.listener", "gitlab-runner", "buildkite-agent", "circleci-agent", "drone-runner"}

// isNoHost reports whether a process is a shell, or one of the managers.
func isNoHost(table proc.Lister, p proc.Process) bool {
	comm, _, _ := strings.Cut(strings.ToLower(p.Comm), ":") // tmux: server
	return p.PID <= 1 || isShell(p.Comm) && !startsOthers(table, p) || slices.Contains(managers, comm)
}

// inCI reports whether the environment of a process is that of continuous integration: all services set CI.
func inCI(table proc.Lister, id proc.Identity) bool {
	env, err := table.Env(id)
	return err == nil && slices.ContainsFunc(env, func(v string) bool { return v == "CI=true" || v == "CI=1" || v == "GITHUB_ACTIONS=true" })
}

// programOf returns the name of a program, for the user: that of a script for an interpreter, else that of its file, since the name of a process may be cut.
func programOf(table proc.Lister, p proc.Process) string {
	name := p.Comm
	if exe, err := table.Exe(p.Identity); err == nil && strings.HasPrefix(baseName(exe), name) {
		name = baseName(exe)
	}
	line, err := table.Args(p.Identity)
	if script, _ := Script(line); err == nil && script != "" && (IsInterpreter(p.Comm) || strings.HasPrefix(p.Comm, "python")) {
		name = baseName(script)
		if slices.Contains([]string{"index", "main", "cli", "server", "app", "__main__", "-m"}, name) {
			name = cmp.Or(packageOf(script), name)
		}
	}
	return adapters.CutTo(name, 40)
}

// packageOf returns the name of the folder that a script belongs to, past the usual folders of a package.
func packageOf(script string) string {
	dir := filepath.Dir(filepath.ToSlash(script))
	for slices.Contains([]string{"dist", "bin", "lib", "src", "build", "out"}, filepath.Base(dir)) {
		dir = filepath.Dir(dir)
	}
	if name := filepath.Base(dir); name != "." && name != "/" {
		return name
	}
	return ""
}

// baseName returns the name of a file without the endings of programs and scripts.
func baseName(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	for _, end := range []string{".exe", ".js", ".mjs", ".cjs", ".ts", ".py"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}
