package claudecode

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/proc"
)

// comm is the name of Claude Code's processes, of the native binary as well as
// under Node.js, where it sets its title.
const comm = "claude"

// claude is a live process of that name.
type claude struct {
	proc.Process
	cwd  string
	root string // its configuration folder; "" when its environment is hidden, or speaks of places that aren't here
	// named says that root is its CLAUDE_CONFIG_DIR, not the usual place.
	named bool
	// tool is set for processes that never own a session by themselves:
	// "daemon", "bg-spare", "mcp", …; and "fork".
	tool string
	// oneShot says that it ends with its turn.
	oneShot bool
}

// notSessions are the sub-commands of claude that aren't a conversation.
var notSessions = map[string]bool{
	"daemon": true, "bg-pty-host": true, "bg-spare": true, "agents": true, "attach": true, "logs": true,
	"stop": true, "rm": true, "mcp": true, "update": true, "upgrade": true, "install": true, "doctor": true,
	"config": true, "setup-token": true, "plugin": true, "auth": true, "migrate-installer": true,
}

// table is the process table at one moment.
type table struct {
	proc.Lister
	claudes  []claude
	children map[int][]proc.Process
	err      error // the table could not be read
}

// readTable lists the processes and looks closer at those named claude.
func (a *Adapter) readTable(ctx context.Context) (*table, error) {
	t := &table{Lister: a.table, children: make(map[int][]proc.Process)}
	rows, err := a.table.List(ctx)
	if err != nil {
		t.err = err
		return t, asProblem("process table", err)
	}
	for _, p := range rows {
		t.children[p.PPID] = append(t.children[p.PPID], p)
		if p.Comm == comm {
			t.claudes = append(t.claudes, a.look(p))
		}
	}
	a.forgetProcesses(t.claudes)
	a.markForks(t.claudes)
	return t, nil
}

// forkTime is how long a process that another one starts has its name at least.
const forkTime = time.Second

// markForks finds the children of claude that are about to become another
// program: up to then they look like it.
func (a *Adapter) markForks(claudes []claude) {
	for i := range claudes {
		c := &claudes[i]
		j := slices.IndexFunc(claudes, func(p claude) bool { return p.PID == c.PPID })
		if j >= 0 && (a.clock().Sub(c.Started) < forkTime || a.sameImage(c.Identity, claudes[j].Identity)) {
			c.tool = "fork"
		}
	}
}

// sameImage says whether a child still shows its parent's program, arguments
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

// look reads what a process shows of itself. Its start environment and its
// arguments don't change; its folder does.
func (a *Adapter) look(p proc.Process) claude {
	a.mu.Lock()
	c, known := a.seen[p.Identity]
	a.mu.Unlock()
	c.Process = p
	if !known {
		c.root, c.named = a.rootOf(p.Identity)
		if args, err := a.table.Args(p.Identity); err == nil && len(args) > 1 {
			if notSessions[args[1]] {
				c.tool = args[1]
			}
			printing := slices.Contains(args, "-p") || slices.Contains(args, "--print")
			c.oneShot = printing && !slices.ContainsFunc(args, func(arg string) bool { return strings.HasSuffix(arg, "stream-json") })
		}
		if time.Since(p.Started) > time.Minute { // an exec keeps the identity and changes the rest
			a.mu.Lock()
			a.seen[p.Identity] = c
			a.mu.Unlock()
		}
	}
	c.cwd, _ = a.table.CWD(p.Identity)
	return c
}

// forgetProcesses drops what is remembered of processes that ended.
func (a *Adapter) forgetProcesses(live []claude) {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := make(map[proc.Identity]claude, len(live))
	for i := range live {
		if c, ok := a.seen[live[i].Identity]; ok {
			seen[live[i].Identity] = c
		}
	}
	a.seen = seen
}

// rootOf returns the configuration folder that a process uses.
func (a *Adapter) rootOf(id proc.Identity) (root string, named bool) {
	env, err := a.table.Env(id)
	if err != nil {
		return "", false
	}
	var dir, home string
	for _, v := range env {
		if d, ok := strings.CutPrefix(v, "CLAUDE_CONFIG_DIR="); ok {
			dir = d
		}
		if d, ok := strings.CutPrefix(v, homeVariable+"="); ok {
			home = d
		}
	}
	switch {
	case filepath.IsAbs(dir):
		root, named = dir, true
	case dir == "" && home != "":
		root = filepath.Join(home, ".claude")
	default:
		return "", false
	}
	// A process of another mount namespace (a container with our folder mounted
	// into it) names it differently: its name then says nothing here.
	if _, err := os.Stat(filepath.Dir(root)); errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	return realPath(root), named
}

// roots returns the configuration folders to look in: the user's own first,
// then those that live processes of the same user were started with. Each is
// returned once, whatever symbolic links lead to it.
func (a *Adapter) roots(t *table) []string {
	own := realPath(a.configDir())
	roots := []string{own}
	for _, c := range t.claudes {
		if !c.named || slices.Contains(roots, c.root) {
			continue
		}
		if info, err := os.Stat(c.root); err == nil && info.IsDir() && ownedByUser(info) {
			roots = append(roots, c.root)
		}
	}
	return roots
}

// configDir is where Claude Code keeps its files for the user that runs Rollcall.
func (a *Adapter) configDir() string {
	if dir := a.env("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(a.home, ".claude")
}

// realPath resolves symbolic links where it can.
func realPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// startedSince returns the children of a process that were started at or after a
// moment, which a record of a transcript tells.
func (t *table) startedSince(pid int, at time.Time) []proc.Process {
	var young []proc.Process
	for _, c := range t.children[pid] {
		if !c.Started.Before(at.Add(-startSlack)) {
			young = append(young, c)
		}
	}
	return young
}
