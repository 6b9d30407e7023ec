package cline

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// process is a live process of Cline.
type process struct {
	proc.Process
	hub      bool   // it is the hub
	prompted bool   // its command line has a prompt
	id       string // of the session that its command line resumes
	cwd      string // where its session works
	number   int    // its pid as it sees it itself, in a container
	folders  root   // that its environment and arguments name
	root     *root  // that it uses; nil: none that can be read
	hosts    bool   // it hosts a session
	shows    bool   // it may be the terminal of a session that the hub hosts
	doubt    string // the session that it has, unless it began later
}

// commands lists the sub-commands, which host no session.
var commands = []string{"auth", "config", "plugin", "skill", "connect", "mcp", "doctor", "history", "h", "hook", "schedule", "hub", "dashboard",
	"update", "version", "kanban", "help"}

// withValue lists the options that are followed by a value.
var withValue = []string{"--auto-approve", "--compaction", "-c", "--cwd", "--id", "-P", "--provider", "-k", "--key", "-m", "--model", "-s", "--system",
	"-t", "--timeout", "--config", "--data-dir", "--hooks-dir"}

// notSessions lists the options of processes that host no session.
var notSessions = []string{"-V", "--version", "-h", "--help", "--update", "--kanban", "-z", "--zen"}

// readArguments reads the arguments after the program's name, and returns the values of options. ok is false if the process hosts no
// session.
func (p *process) readArguments(args []string) (values map[string]string, ok bool) {
	values, ok = map[string]string{}, true
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case name == "--cline-hub-daemon":
			p.hub = true
		case slices.Contains(notSessions, name):
			ok = false
		case slices.Contains(withValue, name):
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			values[name] = value
		case strings.HasPrefix(name, "-"):
		case !p.prompted:
			p.prompted = true
			ok = ok && !slices.Contains(commands, args[i])
		}
	}
	return values, ok || p.hub
}

// OwnsProcess implements adapters.ProcessOwner. The hub hosts sessions of other processes; it is not owned.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	own := a.inspect(p)
	return own != nil && !own.hub
}

// inspect reads a process. It returns nil for one that hosts no session.
func (a *Adapter) inspect(row proc.Process) *process {
	if row.Comm != "cline" && row.Comm != "cline.exe" { // its program is native
		return nil
	}
	args, err := a.Table.Args(row.Identity)
	if err != nil || len(args) == 0 {
		return nil // it has ended, or is another user's, whose sessions are in no folder of this user
	}
	env, err := a.Table.Env(row.Identity)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, proc.ErrGone) {
		return nil
	}
	p := &process{Process: row, number: a.number(row.Identity)}
	values, ok := p.readArguments(args[1:])
	if !ok {
		return nil
	}
	p.id = values["--id"]
	p.cwd, _ = a.Table.CWD(row.Identity)
	if dir := cmp.Or(values["-c"], values["--cwd"]); filepath.IsAbs(dir) {
		p.cwd = filepath.Clean(dir)
	} else if p.cwd != "" {
		p.cwd = filepath.Join(p.cwd, dir)
	}
	options := map[string]string{dirVariable: values["--config"], dataVariable: values["--data-dir"]}
	p.folders = rootOf(func(name string) string {
		if path := options[name]; filepath.IsAbs(path) {
			return path
		}
		return kit.Get(env, name)
	}, kit.Get(env, kit.Home))
	return p
}

// number returns the pid of a process as it sees it itself, in a container.
func (a *Adapter) number(id proc.Identity) int {
	if inner, err := a.Table.InnerPIDs(id); err == nil && len(inner) > 0 {
		return inner[len(inner)-1]
	}
	return id.PID
}
