package claudecode

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/container"
	"rollcall/bounded"
	"rollcall/proc"
)

// comm is the name of Claude Code's processes, of the native binary as well as
// under Node.js, where it sets its title.
const comm = "claude"

// claude is a live process whose name is comm.
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
	// oneShot reports that the process ends with its turn.
	oneShot bool
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
	claudes  []claude
	children map[int][]proc.Process
	err      error // the table could not be read
	inner    map[proc.Identity][]int
}

// readTable lists the processes and inspects those named claude.
func (a *Adapter) readTable(ctx context.Context) (*table, error) {
	t := &table{Lister: a.table, children: make(map[int][]proc.Process), inner: make(map[proc.Identity][]int)}
	rows, err := a.table.List(ctx)
	if err != nil {
		t.err = err
		return t, adapters.AsProblem("process table", err)
	}
	for _, p := range rows {
		t.children[p.PPID] = append(t.children[p.PPID], p)
		if p.Comm == comm {
			t.claudes = append(t.claudes, a.inspect(p))
		}
	}
	a.forgetProcesses(t.claudes)
	a.markForks(t.claudes)
	return t, nil
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

// inspect reads the details of a process. Its start environment and its arguments don't change,
// but its folder can.
func (a *Adapter) inspect(p proc.Process) claude {
	a.mu.Lock()
	c, known := a.seen[p.Identity]
	a.mu.Unlock()
	c.Process = p
	if !known {
		c.home = a.homeOf(p.Identity)
		if args, err := a.table.Args(p.Identity); err == nil && len(args) > 1 {
			c.args = args[1:]
			c.excludedAs = toolOf(c.args)
			printing := slices.Contains(args, "-p") || slices.Contains(args, "--print")
			c.oneShot = printing && !slices.ContainsFunc(args, func(arg string) bool { return strings.HasSuffix(arg, "stream-json") })
		}
		if time.Since(p.Started) > time.Minute { // an exec keeps the identity and changes the rest
			a.mu.Lock()
			a.seen[p.Identity] = c
			a.mu.Unlock()
		}
	}
	c.root, c.unresponsive = c.home, c.home != "" && !bounded.Answers(c.home)
	if c.home != "" && !c.unresponsive { // a link may lead elsewhere by now
		c.root = realPath(c.home)
	}
	c.cwd, _ = a.table.CWD(p.Identity)
	return c
}

// forgetProcesses drops the cached details of processes that ended.
func (a *Adapter) forgetProcesses(live []claude) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.seen, func(id proc.Identity, _ claude) bool {
		return !slices.ContainsFunc(live, func(c claude) bool { return c.Identity == id })
	})
}

// configDir returns the folder in which Claude Code keeps the files of the user that
// runs Rollcall.
func (a *Adapter) configDir() string {
	return cmp.Or(a.env("CLAUDE_CONFIG_DIR"), filepath.Join(a.home, ".claude"))
}

// realPath resolves symbolic links where it can.
func realPath(path string) string {
	if resolved, err := container.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// startedSince returns the children of a process that were started at or after the time of a
// record.
func (t *table) startedSince(pid int, at time.Time) []proc.Process {
	return slices.DeleteFunc(slices.Clone(t.children[pid]), func(c proc.Process) bool { return c.Started.Before(at.Add(-startSlack)) })
}

// OwnsProcess implements adapters.ProcessOwner. It returns true for a conversation of Claude
// Code, as the native program or as a script of Node.js or Bun. It returns false for its
// daemon, the hosts of its background terminals, its spare processes, its other sub-commands
// and the children that it is about to turn into tools.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	if !runsClaude(p) {
		return false
	}
	line, err := a.table.Args(p.Identity)
	if err != nil || len(line) == 0 {
		return false
	}
	args, ours := line[1:], true
	if p.Comm != comm {
		args, ours = scriptArgs(args)
	}
	if !ours || toolOf(args) != "" {
		return false
	}
	parent, err := a.table.Find(p.PPID)
	return err != nil || parent.Comm != p.Comm || !a.sameImage(p.Identity, parent.Identity)
}

// scriptArgs returns the arguments of Claude Code's script, given those of the
// interpreter. ours reports whether the interpreter runs that script.
func scriptArgs(line []string) (args []string, ours bool) {
	for i, arg := range line {
		if strings.HasPrefix(arg, "-") { // an option of the interpreter's
			continue
		}
		name := filepath.Base(arg)
		packaged := (name == "cli.js" || name == "cli.mjs") && filepath.Base(filepath.Dir(arg)) == "claude-code"
		return line[i+1:], name == comm || packaged
	}
	return nil, false
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

// entryDelay is the longest time that a version without procStart needs after its start to
// write its registry entry, provided that its start dialogs are answered.
const entryDelay = time.Minute

// innerProcesses returns the processes of inner pid namespaces that can have written the entry.
// Entries of versions before about 2.1.139 can have several such processes.
func (d *discovery) innerProcesses(e *entry) (found []proc.Process) {
	for i := range d.table.claudes {
		p := d.table.claudes[i].Process
		pids := d.table.innerPIDs(p.Identity)
		if len(pids) == 0 || pids[len(pids)-1] != e.pid ||
			e.procStart == "" && (e.started.IsZero() || e.started.Sub(p.Started) > entryDelay) {
			continue
		}
		if e.isBy(p, func() string { return "" }) == isWriter {
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

// sessionless returns a row for each process that no session of the answer runs in: a new
// version writes its registry entry only after its trust dialog, and an old version writes a
// transcript only at the first prompt. A process whose entry or whose files can't be seen from
// here gets no row: it may have a session.
func (d *discovery) sessionless() []adapters.Session {
	claimed := make(map[proc.Identity]bool)
	for _, s := range d.sessions {
		for i := range s.owners {
			claimed[s.owners[i].Identity] = true
		}
	}
	var rows []adapters.Session
	for _, p := range d.unregistered() {
		if claimed[p.Identity] || d.unreadableEntries[p.PID] != "" || p.home == "" ||
			len(d.table.innerPIDs(p.Identity)) > 0 || !d.table.Alive(p.Identity) {
			continue
		}
		row := adapters.ProcessSession(adapters.ClaudeCode, p.Process, p.cwd)
		if p.unresponsive {
			row = adapters.UnresponsiveProcess(adapters.ClaudeCode, p.Process, p.cwd, p.home)
		} else if p.oneShot {
			row.Status = adapters.Working
			row.Evidence = fmt.Sprintf("process %d: runs with -p, no session yet", p.PID)
		}
		if len(d.query.IDs) == 0 || slices.Contains(d.query.IDs, row.ID) {
			rows = append(rows, row)
		}
	}
	return rows
}
