package claudecode

import (
	"cmp"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/bounded"
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
	oneShot    bool // it ends with its turn
	hosted     bool // it shows no dialogs: another program talks to it
	// team, mate and lead are set for a teammate of an agent team: the names of the team and of the teammate, and the
	// session that leads it.
	team, mate, lead string
}

// notSessions lists the sub-commands of claude that hold no conversation.
var notSessions = map[string]bool{
	"daemon": true, "bg-pty-host": true, "bg-spare": true, "agents": true, "attach": true, "logs": true,
	"stop": true, "rm": true, "mcp": true, "update": true, "upgrade": true, "install": true, "doctor": true,
	"config": true, "setup-token": true, "plugin": true, "auth": true, "migrate-installer": true,
}

// toolOf returns the sub-command in a process's arguments that hosts no session,
// and "" for a conversation.
func toolOf(args []string) string {
	if len(args) > 0 && notSessions[args[0]] {
		return args[0]
	}
	for _, flag := range []string{"--version", "-v", "--help", "-h"} {
		if slices.Contains(args, flag) {
			return flag
		}
	}
	return ""
}

// table holds the processes of one reading of the process table.
type table struct {
	proc.Lister
	claudes []claude
	pids    map[int]bool // of all processes, and those of Claude Code in inner namespaces
	err     error        // the table could not be read
	inner   map[proc.Identity][]int
}

// readTable lists the processes and inspects those of Claude Code.
func (a *Adapter) readTable(ctx context.Context) (*table, error) {
	t := &table{Lister: a.table, pids: make(map[int]bool), inner: make(map[proc.Identity][]int)}
	rows, err := a.table.List(ctx)
	if err != nil {
		t.err = err
		return t, adapters.AsProblem("process table", err)
	}
	for _, p := range rows {
		t.pids[p.PID] = true
		if args, is := a.isClaude(p); is && !a.isWrapper(rows, p) {
			t.claudes = append(t.claudes, a.inspect(p, args))
		}
	}
	for i := range t.claudes {
		for _, pid := range t.innerPIDs(t.claudes[i].Identity) {
			t.pids[pid] = true
		}
	}
	a.markForks(t.claudes)
	return t, nil
}

// versionName matches the names of programs that the native installer names after their version: "2.1.332".
var versionName = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+`)

// mayBeClaude reports whether a process with that name can be Claude Code. Under Node.js the name that Claude Code gives itself
// doesn't show on every system. A process that was started by its real path has the name of the file.
func mayBeClaude(comm string) bool {
	return comm == "claude" || comm == "claude.exe" || versionName.MatchString(comm) || agentproc.IsInterpreter(comm)
}

// isClaude reports whether a process is Claude Code, by its name, its program and its script, and returns its arguments, which
// are nil if they can't be read.
func (a *Adapter) isClaude(p proc.Process) (args []string, is bool) {
	if !mayBeClaude(p.Comm) {
		return nil, false
	}
	line, err := a.table.Args(p.Identity)
	if agentproc.IsInterpreter(p.Comm) {
		script, args := agentproc.Script(line)
		return args, err == nil && a.isOurScript(script, p.Identity)
	}
	if err == nil && len(line) > 0 {
		args = line[1:]
	}
	if !versionName.MatchString(p.Comm) {
		return args, true
	}
	exe, err := a.table.Exe(p.Identity)
	return args, err == nil && isVersionOf(exe)
}

// isVersionOf reports whether a program is where the native installer puts versions of Claude Code.
func isVersionOf(exe string) bool {
	dir := filepath.Dir(exe)
	return filepath.Base(dir) == "versions" && filepath.Base(filepath.Dir(dir)) == "claude"
}

// isOurScript reports whether an interpreter that runs a script runs Claude Code: the script of its package or of its SDK, by its real path
// or by the link that npm makes.
func (a *Adapter) isOurScript(script string, id proc.Identity) bool {
	packaged := func(path string) bool {
		name, dir := filepath.Base(path), filepath.Base(filepath.Dir(path))
		return (name == "cli.js" || name == "cli.mjs") && (dir == "claude-code" || dir == "claude-agent-sdk")
	}
	if packaged(script) || filepath.Base(script) == "claude" {
		return true
	}
	if name := filepath.Base(script); name != "cli.js" && name != "cli.mjs" || filepath.IsAbs(script) {
		return false
	}
	cwd, err := a.table.CWD(id)
	return err == nil && packaged(agentproc.RealScript(script, cwd))
}

// isWrapper reports whether a process is a script that started Claude Code as another process.
func (a *Adapter) isWrapper(rows []proc.Process, p proc.Process) bool {
	_, is := agentproc.Inner(rows, p, func(p proc.Process) bool {
		_, is := a.isClaude(p)
		return is
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
		if j >= 0 && (a.now().Sub(c.Started) < forkTime || a.sameImage(c.Identity, claudes[j].Identity)) {
			c.excludedAs = "fork"
		}
	}
}

// sameImage reports whether a child still shows its parent's program, arguments
// and environment. A claude started by claude differs in one of them.
func (a *Adapter) sameImage(child, parent proc.Identity) bool {
	for _, read := range []func(proc.Identity) ([]string, error){
		func(id proc.Identity) ([]string, error) {
			exe, err := a.table.Exe(id)
			return []string{exe}, err
		}, a.table.Args, a.table.Env,
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
func (a *Adapter) inspect(p proc.Process, args []string) claude {
	p.Started, _ = agentproc.Started(a.table, p)
	c := claude{Process: p, args: args, home: a.homeOf(p.Identity), excludedAs: toolOf(args)}
	printing := slices.Contains(args, "-p") || slices.Contains(args, "--print")
	c.hosted = slices.ContainsFunc(args, func(arg string) bool { return strings.HasSuffix(arg, "stream-json") })
	c.oneShot = printing && !c.hosted
	c.readTeam()
	c.root, c.unresponsive = c.home, c.home != "" && !bounded.Answers(c.home)
	if c.home != "" && !c.unresponsive { // a link may lead elsewhere by now
		c.root = realPath(c.home)
	}
	c.cwd, _ = a.table.CWD(p.Identity)
	return c
}

// configDir returns the folder in which Claude Code keeps the files of the user that
// runs Rollcall.
func (a *Adapter) configDir() string {
	return cmp.Or(a.env("CLAUDE_CONFIG_DIR"), filepath.Join(a.home, ".claude"))
}

// realPath resolves symbolic links where it can.
func realPath(path string) string {
	if resolved, err := agentproc.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// OwnsProcess implements adapters.ProcessOwner. It returns true for a conversation of Claude
// Code, as the native program or as a script of Node.js or Bun. It returns false for its
// daemon, the hosts of its background terminals, its spare processes, its other sub-commands,
// the wrappers that started it and the children that it is about to turn into tools.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	args, is := a.isClaude(p)
	if !is || toolOf(args) != "" {
		return false
	}
	if line, err := a.table.Args(p.Identity); err != nil || len(line) == 0 {
		return false
	}
	if agentproc.IsInterpreter(p.Comm) {
		if rows, err := a.table.List(context.Background()); err != nil || a.isWrapper(rows, p) {
			return false
		}
	}
	parent, err := a.table.Find(p.PPID)
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
