package claudecode

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// claude is a live process of Claude Code.
type claude struct {
	proc.Process
	cwd  string
	home string // its configuration folder, as the process names it; "": hidden, or it doesn't exist here
	root string // home with its symbolic links resolved
	// unresponsive: the file system of home does not answer.
	unresponsive bool
	args         []string
	// excludedAs is set for processes that never own a session by themselves:
	// "daemon", "bg-spare", "mcp", …; and "fork".
	excludedAs string
	printing   bool   // it was started with -p
	oneShot    bool   // it ends with its turn
	hosted     bool   // it shows no dialogs: another program talks to it
	entrypoint string // see entrypointOf
	// team, mate and lead are set for a teammate of an agent team: the names of the team and of the teammate, and the
	// session that leads it.
	team, mate, lead string
}

// program is how the processes of Claude Code look. Its native program is also the daemon of background sessions, the host of their terminals, and spare
// processes that are a session once they are claimed, which only their registry entry shows (2.1.332: "claude bg-spare", "--bg-spare"); under the names
// of rg, bfs and the like it is these tools. Nix calls it .claude-wrapped, the native installer and Claude Desktop name it by its version.
var program = &agentproc.Program{
	Names: []string{"claude"}, Versions: []string{"claude/versions", "ccd-cli", "claude-code"},
	Packages: []string{"claude-code", "claude-agent-sdk"}, OwnName: true,
	Script: func(path string) bool {
		return slices.Contains([]string{"claude-code", "claude-agent-sdk"}, filepath.Base(filepath.Dir(path))) && strings.HasPrefix(filepath.Base(path), "cli.")
	},
	Commands: []string{"daemon", "bg-*", "agents", "attach", "logs", "stop", "kill", "rm", "respawn", "mcp", "update", "upgrade", "install", "import", "doctor",
		"config", "setup-token", "plugin", "plugins", "auth", "auto-mode", "migrate-installer", "gateway", "purge", "ultrareview", "remote-control", "rc"},
	Flags: []string{"--bg*", "--background", "--spare-*", "--daemon-*", "--preload", "--chrome-native-host", "--claude-in-chrome-mcp", "--eval-mock-server",
		"--version", "-v", "--help", "-h"},
	Valued: []string{"--agent", "--agents", "--append-system-prompt", "--autocompact", "--cloud", "-d", "--debug", "--debug-file", "--effort", "--environment",
		"--fallback-model", "--from-pr", "--input-format", "--json-schema", "--max-budget-usd", "--max-turns", "--model", "-n", "--name", "--output-format",
		"--permission-mode", "--permission-prompts", "--permission-prompt-tool", "--plugin-dir", "--plugin-url", "--prompt-suggestions", "--remote-control",
		"--remote-control-session-name-prefix", "-r", "--resume", "--sdk-url", "--session-id", "--setting-sources", "--settings", "--system-prompt",
		"--system-prompt-snapshot", "--teleport", "-w", "--worktree"},
	Lists: []string{"--add-dir", "--allowedTools", "--allowed-tools", "--betas", "--disallowedTools", "--disallowed-tools", "--file", "--mcp-config", "--tools"},
}

// table holds the processes of one reading of the process table.
type table struct {
	proc.Lister
	claudes []claude
	rows    []proc.Process
	pids    map[int]bool // of all processes, and those of Claude Code in inner namespaces
	unread  bool         // the table could not be read
	inner   map[proc.Identity][]int
}

// readTable lists the processes and inspects those of Claude Code.
func (a *Adapter) readTable(ctx context.Context, answer *kit.Answer) *table {
	rows, ok := a.Processes(ctx, answer)
	t := &table{Lister: a.Table, rows: rows, unread: !ok, pids: make(map[int]bool), inner: make(map[proc.Identity][]int)}
	for _, p := range rows {
		t.pids[p.PID] = true
		if seen := program.Identify(a.Table, p); seen.Kind != agentproc.Foreign && !a.isWrapper(rows, p) {
			t.claudes = append(t.claudes, a.inspect(p, seen))
		}
	}
	for i := range t.claudes {
		for _, pid := range t.innerPIDs(t.claudes[i].Identity) {
			t.pids[pid] = true
		}
	}
	a.markForks(t.claudes)
	return t
}

// isWrapper reports whether a process is a script that started Claude Code as another process.
func (a *Adapter) isWrapper(rows []proc.Process, p proc.Process) bool {
	_, is := agentproc.Inner(rows, p, func(p proc.Process) bool {
		return program.Identify(a.Table, p).Kind != agentproc.Foreign
	})
	return is
}

// forkTime is the shortest time for which a child process of claude may still look like
// claude.
const forkTime = time.Second

// markForks finds the children of claude that are about to become another program by
// exec. Until then they look like claude.
func (a *Adapter) markForks(claudes []claude) {
	for i := range claudes {
		c := &claudes[i]
		j := slices.IndexFunc(claudes, func(p claude) bool { return p.PID == c.PPID })
		if j >= 0 && (a.Now().Sub(c.Started) < forkTime || a.sameImage(c.Identity, claudes[j].Identity)) {
			c.excludedAs = "fork"
		}
	}
}

// sameImage reports whether a child still shows its parent's program, arguments
// and environment. A claude started by claude differs in one of them.
func (a *Adapter) sameImage(child, parent proc.Identity) bool {
	for _, read := range []func(proc.Identity) ([]string, error){
		func(id proc.Identity) ([]string, error) {
			exe, err := a.Table.Exe(id)
			return []string{exe}, err
		}, a.Table.Args, a.Table.Env,
	} {
		c, err := read(child)
		p, err2 := read(parent)
		if err != nil || err2 != nil || !slices.Equal(c, p) {
			return false
		}
	}
	return true
}

// inspect reads the details of a process.
func (a *Adapter) inspect(p proc.Process, seen agentproc.Seen) claude {
	p.Started, _ = agentproc.Started(a.Table, p)
	args := seen.Args
	c := claude{Process: p, args: args, excludedAs: seen.As}
	c.printing = slices.Contains(args, "-p") || slices.Contains(args, "--print")
	c.hosted = slices.ContainsFunc(args, func(arg string) bool { return strings.HasSuffix(arg, "stream-json") })
	c.oneShot = c.printing && !c.hosted
	env, err := a.Table.Env(p.Identity)
	if err == nil {
		get := func(name string) string { return kit.Get(env, name) }
		c.home = homeOf(get, get(kit.Home))
	}
	c.entrypoint = c.entrypointOf(env)
	c.readTeam()
	c.cwd, _ = a.Table.CWD(p.Identity)
	return c
}

// configDir returns the folder in which Claude Code keeps the files of the user that
// runs Rollcall.
func (a *Adapter) configDir() string { return homeOf(a.Env, a.Home) }

// OwnsProcess implements adapters.ProcessOwner. It returns true for a conversation of Claude
// Code, as the native program or as a script of Node.js or Bun. It returns false for its
// daemon, the hosts of its background terminals, its spare processes, its other sub-commands,
// the wrappers that started it and the children that it is about to turn into tools.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	seen := program.Identify(a.Table, p)
	if seen.Kind != agentproc.Conversation || len(seen.Line) == 0 {
		return false
	}
	if seen.Script != "" {
		if rows, err := a.Table.List(context.Background()); err != nil || a.isWrapper(rows, p) {
			return false
		}
	}
	parent, err := a.Table.Find(p.PPID)
	return err != nil || parent.Comm != p.Comm || !a.sameImage(p.Identity, parent.Identity)
}

// A Claude Code in a separate pid namespace writes its inner pid into the registry, and
// the name of that namespace (pidDomain). The process table of a namespace above it has
// both pids.

// innerPIDs returns the pids of a process in namespaces below this one.
func (t *table) innerPIDs(id proc.Identity) []int {
	pids, known := t.inner[id]
	if !known {
		pids, _ = t.InnerPIDs(id) // none where the system doesn't show them
		t.inner[id] = pids
	}
	return pids
}

// innerProcesses returns the processes of inner pid namespaces that can have written the entry.
func (d *discovery) innerProcesses(e *entry) (found []proc.Process) {
	for i := range d.table.claudes {
		p := d.table.claudes[i].Process
		if pids := d.table.innerPIDs(p.Identity); len(pids) > 0 && pids[len(pids)-1] == e.pid && e.procStart != "" && e.isBy(p) {
			found = append(found, p)
		}
	}
	return found
}

// initialDomain is the end of the name of the initial pid namespace, whose number Linux has fixed since 3.8.
const initialDomain = ":pid:[4026531836]"

// sees reports whether every process of that pid namespace is in the table: the namespace
// belongs to this machine, the table was read in the initial namespace, and no hidepid option
// of /proc hides the processes of other users.
func (t *table) sees(domain string) bool {
	machine, initial := strings.CutSuffix(t.Domain(), initialDomain)
	if !initial || !strings.HasPrefix(domain, machine+":pid:") {
		return false
	}
	_, err := t.Find(1)
	return err == nil
}
