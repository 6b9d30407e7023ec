package cline

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// process is a live process of Cline.
type process struct {
	proc.Process
	hub          bool   // it is the hub
	prompted     bool   // its command line has a prompt
	id           string // of the session that its command line resumes
	cwd          string // where its session works
	number       int    // its pid as it sees it itself, in a container
	folders      root   // that its environment and arguments name; empty: not known
	root         *root  // that it uses; nil: none that can be read
	unresponsive string // the folder of the root whose file system does not answer
}

// commands lists the sub-commands, which host no session.
var commands = []string{"auth", "config", "plugin", "skill", "connect", "mcp", "doctor", "history", "h", "hook", "schedule", "hub", "dashboard",
	"update", "version", "kanban", "help"}

// withValue lists the options that are followed by a value.
var withValue = []string{"--auto-approve", "--compaction", "-c", "--cwd", "--id", "-P", "--provider", "-k", "--key", "-m", "--model", "-s", "--system",
	"-t", "--timeout", "--config", "--data-dir", "--hooks-dir"}

// notSessions lists the options of processes that host no session.
var notSessions = []string{"-V", "--version", "-h", "--help", "--update", "--kanban", "-z", "--zen"}

// arguments holds what a command line says.
type arguments struct {
	hub, ignored bool
	prompted     bool // they have a prompt
	values       map[string]string
}

// readArguments reads the arguments after the program's name.
func readArguments(args []string) (a arguments) {
	a.values = map[string]string{}
	first := true
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case name == "--cline-hub-daemon":
			a.hub = true
		case slices.Contains(notSessions, name):
			a.ignored = true
		case slices.Contains(withValue, name):
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			a.values[name] = value
		case strings.HasPrefix(name, "-"):
		case first:
			a.ignored = a.ignored || slices.Contains(commands, args[i])
			a.prompted, first = true, false
		}
	}
	return a
}

func (a arguments) value(names ...string) string {
	for _, name := range names {
		if v := a.values[name]; v != "" {
			return v
		}
	}
	return ""
}

// isCline reports whether a process can be Cline by its name: its program is native.
func isCline(comm string) bool { return comm == "cline" || comm == "cline.exe" }

// OwnsProcess implements adapters.ProcessOwner. The hub hosts sessions of other processes; it is not owned.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	own := a.inspect(p)
	return own != nil && !own.hub
}

// census returns the live processes that can host sessions.
func (a *Adapter) census(ctx context.Context) ([]*process, error) {
	rows, err := a.table.List(ctx)
	var found []*process
	for _, row := range rows {
		if p := a.inspect(row); p != nil {
			found = append(found, p)
		}
	}
	if err != nil {
		err = &adapters.Problem{Kind: adapters.ErrUnreadable, Path: "process table", Err: err, Fix: "without it, running sessions can't be recognised"}
	}
	return found, err
}

// inspect reads a process. It returns nil for one that hosts no session.
func (a *Adapter) inspect(row proc.Process) *process {
	if !isCline(row.Comm) {
		return nil
	}
	args, err := a.table.Args(row.Identity)
	if err != nil || len(args) == 0 {
		return nil // it has ended, or is another user's, whose sessions are in no folder of this user
	}
	said := readArguments(args[1:])
	if said.ignored && !said.hub {
		return nil
	}
	p := &process{Process: row, hub: said.hub, prompted: said.prompted, id: said.value("--id"), number: row.PID}
	if inner, err := a.table.InnerPIDs(row.Identity); err == nil && len(inner) > 0 {
		p.number = inner[len(inner)-1]
	}
	p.cwd, _ = a.table.CWD(row.Identity)
	if dir := said.value("-c", "--cwd"); filepath.IsAbs(dir) {
		p.cwd = filepath.Clean(dir)
	} else if dir != "" && p.cwd != "" {
		p.cwd = filepath.Join(p.cwd, dir)
	}
	env, err := a.table.Env(row.Identity)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, proc.ErrGone) {
		return nil
	}
	p.folders = dataFolders(func(name string) string {
		option := map[string]string{"CLINE_DIR": "--config", "CLINE_DATA_DIR": "--data-dir"}[name]
		if path := said.values[option]; option != "" && filepath.IsAbs(path) {
			return path
		}
		return kit.Get(env, name)
	}, kit.Get(env, kit.Home))
	return p
}
