package codex

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc"
)

// host is a live process that can host threads: Codex's terminal interface, `codex
// exec`, or a server with any number of threads (the shared daemon of 0.169, an
// editor's app-server, codex-acp).
type host struct {
	proc.Process
	// madeOwn is when the process made its own folder, right after its start, by the clock of its files and records. Unlike
	// Started it stays when the clock is set. It is zero where it is not known.
	madeOwn time.Time
	// olderTerminal reports that its terminal shows that the clock was set forward. It is read where madeOwn is not known.
	olderTerminal bool

	args         []string
	role         role
	daemon       bool   // an app-server that listens on the control socket
	ephemeral    bool   // stores nothing
	noDaemon     bool   // shows no thread of the daemon
	reopens      bool   // it was started to show an earlier thread
	resumes      string // thread named on its command line
	cd           string // working folder named there
	otherFolder  bool   // it works in a folder that the command line does not name
	remote       string // address of the server that has its threads
	home         string // CODEX_HOME
	user         string // home folder of its user; empty: not known
	stateDir     string // CODEX_SQLITE_HOME
	unresponsive string // the home that it uses, where the file system does not answer

	rollouts         map[string]bool // open ones, by path
	containerThreads map[string]bool // threads of open rollouts whose path doesn't exist here: it is a container's name for them
	locks            map[string]bool // open writer locks, by the thread's id
	state            []string        // folders of the state databases it has open
	filesErr         error           // why its open files aren't known; nil: they are
}

// agentProcesses holds the processes of Codex that one reading of the process table shows.
type agentProcesses struct {
	hosts  []*host
	rows   []proc.Process // all processes
	unread bool           // the process table could not be read
}

// readProcesses finds the hosts among all processes.
func readProcesses(table proc.Lister, processes []proc.Process) agentProcesses {
	c := agentProcesses{rows: processes}
	for _, p := range processes {
		if h := inspect(table, p); h != nil {
			c.hosts = append(c.hosts, h)
		}
	}
	return c
}

// addOwners adds the owners of writer locks that are not known by their names: whatever a process is called, the thread whose lock it holds is live. A
// shell is no owner: it has inherited the lock, or the pid is another process's by now.
func (c *agentProcesses) addOwners(table proc.Lister, owners map[string]int) {
	for id, pid := range owners {
		if slices.ContainsFunc(c.hosts, func(h *host) bool { return h.PID == pid }) {
			continue
		}
		p, err := table.Find(pid)
		if err != nil || agentproc.IsShell(p.Comm) {
			continue
		}
		line, err := table.Args(p.Identity)
		if h := inspectHost(table, p, agentproc.Seen{Line: line, Err: err}); h != nil && (h.locks[id] || h.filesErr != nil) {
			c.hosts = append(c.hosts, h)
		}
	}
}

// inspect reads a process and returns it as a host. It returns nil for a process that is not a host, or that has ended.
func inspect(table proc.Lister, p proc.Process) *host {
	seen := program.Identify(table, p)
	if seen.Kind != agentproc.Conversation || errors.Is(seen.Err, proc.ErrGone) {
		return nil
	}
	return inspectHost(table, p, seen)
}

// inspectHost reads a process that can be a host. It returns nil for one that is none, or that has ended.
func inspectHost(table proc.Lister, p proc.Process, seen agentproc.Seen) *host {
	h := &host{Process: p, args: seen.Line}
	if seen.Err == nil && !h.readArgs() {
		return nil
	}
	if env, err := table.Env(p.Identity); err == nil {
		h.home, h.stateDir = kit.Get(env, "CODEX_HOME"), kit.Get(env, "CODEX_SQLITE_HOME")
		h.user = kit.Get(env, kit.Home)
	}
	files, err := table.OpenFiles(p.Identity)
	if errors.Is(err, proc.ErrGone) {
		return nil
	}
	h.filesErr = err
	h.sortFiles(files)
	if h.madeOwn.IsZero() {
		h.madeOwn = h.madeByWrapper(table)
	}
	if h.madeOwn.IsZero() && h.reopens {
		h.olderTerminal, _ = table.OlderTerminal(p.Identity)
	}
	return h
}

// madeByWrapper returns the time of what npm's wrapper made for itself right before the process began, if that shows that the clock was set.
// Codex 0.171.0 keeps nothing open that it made itself.
func (h *host) madeByWrapper(table proc.Lister) time.Time {
	wrapper, err := table.Find(h.PPID)
	if err != nil || !agentproc.IsInterpreter(wrapper.Comm) || h.Started.Sub(wrapper.Started) > time.Minute {
		return time.Time{}
	}
	made, err := table.Made(wrapper)
	if err != nil || made.IsZero() || made.Sub(wrapper.Started).Abs() < setClock {
		return time.Time{}
	}
	return made
}

// sortFiles records the open files that show the threads and the home of the process.
func (h *host) sortFiles(files []string) {
	h.rollouts = map[string]bool{}
	h.containerThreads = map[string]bool{}
	h.locks = map[string]bool{}
	for _, f := range files {
		dir, name := filepath.Split(f)
		dir = filepath.Clean(dir)
		if id, ok := threadID(name); ok {
			h.rollouts[f] = true
			if !bounded.Answers(dir) {
				continue
			}
			if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
				h.containerThreads[id] = true
			}
			continue
		}
		if name == ".lock" && strings.HasPrefix(filepath.Base(dir), "codex-arg0") && bounded.Answers(dir) {
			if info, err := os.Stat(f); err == nil {
				h.madeOwn = info.ModTime()
			}
		}
		if id, ok := strings.CutSuffix(name, ".lock"); ok && filepath.Base(dir) == lockFolder && kit.Is(id) {
			h.locks[id] = true
		}
		if strings.HasPrefix(name, "state_") && strings.HasSuffix(name, ".sqlite") && !slices.Contains(h.state, dir) {
			h.state = append(h.state, dir)
		}
	}
}

// started returns when the process started, by the clock of its records as far as that is known.
func (h *host) started() time.Time {
	if h.madeOwn.IsZero() {
		return h.Started
	}
	return h.madeOwn
}

// clockSet reports whether the clock was certainly set since the process started.
func (h *host) clockSet() bool {
	return !h.madeOwn.IsZero() && h.madeOwn.Sub(h.Started).Abs() > setClock
}

// setClock is more than a process takes to make its own folder, also on a very busy machine.
const setClock = 15 * time.Second

// holds reports whether the host has the thread in use. An open rollout shows that for
// versions before the writer locks (0.142.5). Later versions also open other threads'
// rollouts for a moment, to list them: for these versions the thread's lock must be
// open too.
func (h *host) holds(path, id string) bool {
	return (h.rollouts[path] || h.containerThreads[id]) && (h.locks[id] || len(h.locks) == 0 && !h.daemon)
}

// hostOf finds the host of a thread: by the open rollout, else by the owner of
// the thread's writer lock, else, where open files can't be seen, by a command
// line that names it.
func (c agentProcesses) hostOf(path, id string, lockOwner int) *host {
	for _, hasThread := range []func(h *host) bool{
		func(h *host) bool { return h.holds(path, id) },
		func(h *host) bool { return lockOwner != 0 && h.PID == lockOwner },
		func(h *host) bool { return h.filesErr != nil && h.resumes == id && h.role != server },
	} {
		if i := slices.IndexFunc(c.hosts, hasThread); i >= 0 {
			return c.hosts[i]
		}
	}
	return nil
}

// turnHost returns the host of a thread's open turn. Before the writer locks (0.142.5) a thread
// can be open in several processes: the turn belongs to the last process that started before
// the turn.
func (c agentProcesses) turnHost(path, id string, begun time.Time, host *host) *host {
	for _, h := range c.hosts {
		if h != host && h.holds(path, id) && !h.started().After(begun) &&
			(host.started().After(begun) || h.started().After(host.started())) {
			host = h
		}
	}
	return host
}

// hostsWithHiddenFiles returns the hosts whose open files can't be seen.
func (c agentProcesses) hostsWithHiddenFiles() []*host {
	var hosts []*host
	for _, h := range c.hosts {
		if h.filesErr != nil {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// slack is the largest error of a process's start time compared with a record's time:
// the system keeps start times in ticks since the boot.
const slack = time.Second

// processOfCall returns the pid of a process that a thread's call runs in: a descendant
// of the host, no older than the call, and marked with the thread's id (0.169 sets
// CODEX_THREAD_ID) or not marked. none reports that there is certainly no such process.
func (c agentProcesses) processOfCall(table proc.Lister, h *host, thread string, since time.Time) (pid int, none bool) {
	if h.clockSet() {
		return 0, false // the start of a process and the time of the call can't be compared
	}
	none = true
	for _, child := range proc.Descendants(c.rows, h.Identity) {
		if child.Started.Add(slack).Before(since) {
			continue
		}
		env, err := table.Env(child.Identity)
		if errors.Is(err, proc.ErrGone) {
			continue
		}
		switch kit.Get(env, "CODEX_THREAD_ID") {
		case thread:
			return child.PID, false
		case "":
			none = false // may be this thread's
			if pid == 0 && h.role != server {
				pid = child.PID
			}
		}
	}
	return pid, none
}

// OwnsProcess implements adapters.ProcessOwner: terminal interfaces, `codex exec`
// and app-servers are Codex's processes; the node wrapper, the sandbox around a
// command, the daemon's updater and commands such as `codex login` are not.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	seen := program.Identify(a.Table, p)
	return seen.Kind == agentproc.Conversation && len(seen.Line) > 0 && (&host{Process: p, args: seen.Line}).readArgs()
}

// acpProgram is the name of an agent for editors with Codex inside (@zed-industries/codex-acp up to 0.16.0, with Codex 0.137).
// All its threads are in one process, which outlives its editor.
const acpProgram = "codex-acp"

// program is how the processes of Codex look: npm's binary is "codex", a downloaded one "codex-x86_64-unknown-linux-musl"; Nix, flakes and other wrappers have
// .codex-wrapped, codex-unwrapped and codex-raw. The binary is the sandbox around a command and other tools under their names.
var program = &agentproc.Program{
	Names: []string{"codex", acpProgram}, Prefixes: []string{"codex-x86_64", "codex-aarch64", "codex-arm64"},
	Tools:    []string{"codex-linux-sandbox", "apply_patch", "applypatch", "codex-execve-wrapper"},
	Commands: otherCommands, Flags: []string{"--codex-run-as-*", "--version", "-V", "--help", "-h"}, Valued: valued,
}

// hostCommands maps the subcommands of Codex that host threads, or show them in a
// terminal, to the role of their process. Without one Codex is a terminal interface,
// and the first argument is its prompt (0.137.0 to 0.171.0).
var hostCommands = map[string]role{
	"": terminal, "resume": terminal, "fork": terminal,
	"exec": run, "e": run, "review": run,
	"app-server": server, "mcp-server": server, "agents": server,
}

// otherCommands lists the subcommands that host no thread.
var otherCommands = []string{
	"login", "logout", "mcp", "plugin", "completion", "update", "doctor", "sandbox", "debug", "apply", "a", "queue",
	"archive", "unarchive", "delete", "migrate-rollouts", "migrate-nfs-db", "cloud", "cloud-tasks", "exec-server",
	"features", "help", "execpolicy", "remote-control", "responses-api-proxy", "stdio-to-uds",
}

// role is the kind of host that a process is.
type role uint8

const (
	anyRole  role = iota // its command line is not known, as for a process that is ending
	terminal             // an interface in a terminal
	run                  // one turn without a terminal
	server               // hosts threads that are not its own
)

// valued lists the options that take the next argument as their value.
var valued = []string{
	"-c", "--config", "--enable", "--disable", "--remote", "--remote-auth-token-env", "-i", "--image", "-m", "--model",
	"--local-provider", "-p", "--profile", "-s", "--sandbox", "-C", "--cd", "--add-dir", "-a", "--ask-for-approval",
}

// isACP reports whether the host is codex-acp.
func (h *host) isACP() bool { return adapters.IsNamed(h.Comm, acpProgram) }

// readArgs reports whether the command line is that of a host.
func (h *host) readArgs() bool {
	if h.isACP() {
		h.role = server
		return true
	}
	if len(h.args) == 0 {
		return true
	}
	command, rest := h.subcommand(h.args[1:])
	if command == "" { // an option that is not known here may have a value
		if at := slices.IndexFunc(h.args, isServerCommand); at >= 0 {
			command, rest = h.args[at], h.args[at+1:]
		}
	}
	h.role = hostCommands[command]
	if command == "app-server" {
		if slices.Contains(rest, "daemon") || slices.Contains(rest, "proxy") {
			return false // start, stop, pid-update-loop
		}
		h.daemon = slices.Contains(rest, "--managed-daemon") || slices.ContainsFunc(rest, func(a string) bool {
			return strings.HasPrefix(a, "unix:") || strings.HasPrefix(a, "--listen=unix:")
		})
	}
	h.reopens = command == "resume" || command == "fork" || h.role == run && slices.Contains(rest, "resume")
	if h.reopens && command != "fork" {
		if at := slices.IndexFunc(rest, kit.Is); at >= 0 {
			h.resumes = rest[at]
		}
	}
	return true
}

func isServerCommand(arg string) bool { return arg == "app-server" || arg == "mcp-server" }

// subcommand returns the first argument that is neither an option nor the value of one,
// if it is a known command, and the arguments after it. It records the options before
// and after it that Rollcall needs.
func (h *host) subcommand(args []string) (command string, rest []string) {
	known := false
	for i := 0; i < len(args); i++ {
		option, value, joined := strings.Cut(args[i], "=")
		switch {
		case option == "--":
			return command, rest
		case option == "--ephemeral":
			h.ephemeral = true
		case option == "--no-daemon":
			h.noDaemon = true
		case option == "--worktree":
			h.otherFolder = true
		case slices.Contains(valued, option):
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			if option == "-C" || option == "--cd" {
				h.cd = value
			}
			if option == "--remote" {
				h.remote, h.otherFolder = value, true
			}
		case strings.HasPrefix(option, "-") || known:
		default:
			known = true
			if _, hosts := hostCommands[args[i]]; hosts || slices.Contains(otherCommands, args[i]) {
				command, rest = args[i], args[i+1:]
			}
		}
	}
	return command, rest
}
