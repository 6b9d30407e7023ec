package codex

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

// host is a live process that can host threads: Codex's terminal interface,
// `codex exec`, or an app-server with any number of threads (the shared daemon
// of 0.169, an editor's server).
type host struct {
	proc.Process
	args     []string
	server   bool   // app-server: its threads are not its own
	daemon   bool   // an app-server that listens on the control socket
	resumes  string // thread named on its command line
	home     string // CODEX_HOME
	user     string // HOME; empty: not known
	stateDir string // CODEX_SQLITE_HOME

	rollouts map[string]bool // open ones, by path
	unseen   map[string]bool // threads of open ones whose path isn't here: a container's name for them
	locks    map[string]bool // open writer locks, by the thread's id
	state    []string        // folders of the state databases it has open
	opaque   error           // why its open files aren't known; nil: they are
}

// census is what the process table says about Codex at one moment.
type census struct {
	hosts     []*host
	children  map[int][]proc.Process
	processes int // of all kinds
}

// takeCensus finds the hosts among all processes.
func takeCensus(ctx context.Context, table proc.Lister) (census, error) {
	processes, err := table.List(ctx)
	c := census{children: map[int][]proc.Process{}, processes: len(processes)}
	for _, p := range processes {
		if p.PPID > 0 {
			c.children[p.PPID] = append(c.children[p.PPID], p)
		}
		if !isCodex(p.Comm) {
			continue
		}
		if h := inspect(table, p); h != nil {
			c.hosts = append(c.hosts, h)
		}
	}
	return c, err
}

// isCodex says whether a process can be Codex by its name: npm's binary is "codex",
// a downloaded one "codex-x86_64-unknown-linux-musl" (cut to 15 bytes).
func isCodex(comm string) bool {
	return comm == "codex" || strings.HasPrefix(comm, "codex-x86_64") ||
		strings.HasPrefix(comm, "codex-aarch64") || strings.HasPrefix(comm, "codex-arm64")
}

// notHosts are names under which the binary runs as something else: the sandbox
// around a command has the name codex as well.
var notHosts = []string{"codex-linux-sandbox", "apply_patch", "applypatch", "codex-execve-wrapper"}

// inspect returns nil for a process that is no host, or is gone.
func inspect(table proc.Lister, p proc.Process) *host {
	args, err := table.Args(p.Identity)
	if errors.Is(err, proc.ErrGone) {
		return nil
	}
	h := &host{Process: p, args: args}
	if err == nil && !h.readArgs() {
		return nil
	}
	if env, err := table.Env(p.Identity); err == nil {
		h.home, h.stateDir = variable(env, "CODEX_HOME"), variable(env, "CODEX_SQLITE_HOME")
		h.user = variable(env, "HOME")
	}
	files, err := table.OpenFiles(p.Identity)
	if errors.Is(err, proc.ErrGone) {
		return nil
	}
	h.opaque = err
	h.sortFiles(files)
	return h
}

// readArgs says whether the command line is that of a host.
func (h *host) readArgs() bool {
	if len(h.args) == 0 {
		return true
	}
	base := strings.TrimSuffix(filepath.Base(h.args[0]), ".exe")
	if slices.Contains(notHosts, base) {
		return false
	}
	rest := h.args[1:]
	if at := slices.Index(rest, "app-server"); at >= 0 {
		h.server = true
		if slices.Contains(rest[at:], "daemon") || slices.Contains(rest[at:], "proxy") {
			return false // start, stop, pid-update-loop
		}
		h.daemon = slices.Contains(rest, "--managed-daemon") || slices.ContainsFunc(rest, func(a string) bool {
			return strings.HasPrefix(a, "unix:") || strings.HasPrefix(a, "--listen=unix:")
		})
	}
	if slices.Contains(rest, "mcp-server") {
		h.server = true
	}
	if at := slices.Index(rest, "resume"); at >= 0 && at+1 < len(rest) && isUUID(rest[at+1]) {
		h.resumes = rest[at+1]
	}
	return true
}

// sortFiles keeps of the open files what names threads and places.
func (h *host) sortFiles(files []string) {
	h.rollouts, h.unseen, h.locks = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range files {
		dir, name := filepath.Split(f)
		dir = filepath.Clean(dir)
		if id, ok := threadID(name); ok {
			h.rollouts[f] = true
			if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
				h.unseen[id] = true
			}
			continue
		}
		if id, ok := strings.CutSuffix(name, ".lock"); ok && filepath.Base(dir) == lockFolder && isUUID(id) {
			h.locks[id] = true
		}
		if strings.HasPrefix(name, "state_") && strings.HasSuffix(name, ".sqlite") && !slices.Contains(h.state, dir) {
			h.state = append(h.state, dir)
		}
	}
}

// holds says whether the host has the thread in its hands. An open rollout is
// enough for versions before the writer locks (0.142.5). Later ones open others'
// rollouts for a moment as well, to list them: there the thread's lock must be
// open too.
func (h *host) holds(path, id string) bool {
	return (h.rollouts[path] || h.unseen[id]) && (h.locks[id] || len(h.locks) == 0 && !h.daemon)
}

// hostOf finds the host of a thread: by the open rollout, else by the owner of
// the thread's writer lock, else, where open files can't be seen, by a command
// line that names it.
func (c census) hostOf(path, id string, lockOwner int) *host {
	for _, h := range c.hosts {
		if h.holds(path, id) {
			return h
		}
	}
	for _, h := range c.hosts {
		if lockOwner != 0 && h.PID == lockOwner {
			return h
		}
	}
	for _, h := range c.hosts {
		if h.opaque != nil && h.resumes == id && !h.server {
			return h
		}
	}
	return nil
}

// opaque returns the hosts whose open files can't be seen.
func (c census) opaque() []*host {
	var hosts []*host
	for _, h := range c.hosts {
		if h.opaque != nil {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// slack is by how much a process's start time, which the system keeps in ticks
// since the boot, can seem to lie before a record's time.
const slack = time.Second

// runs looks for a process that a thread's call runs in: a descendant of the
// host, no older than the call, and marked with the thread's id (0.169 sets
// CODEX_THREAD_ID) or not marked. none is true when there is surely no such one.
func (c census) runs(table proc.Lister, h *host, thread string, since time.Time) (pid int, none bool) {
	queue, none := []int{h.PID}, true
	for seen := 0; len(queue) > 0 && seen < 1000; seen++ {
		for _, child := range c.children[queue[0]] {
			queue = append(queue, child.PID)
			if child.Started.Add(slack).Before(since) {
				continue
			}
			env, err := table.Env(child.Identity)
			if errors.Is(err, proc.ErrGone) {
				continue
			}
			switch variable(env, "CODEX_THREAD_ID") {
			case thread:
				return child.PID, false
			case "":
				none = false // may be this thread's
				if pid == 0 && !h.server {
					pid = child.PID
				}
			}
		}
		queue = queue[1:]
	}
	return pid, none
}

func variable(env []string, name string) string {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}
