package cline

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
	"rollcall/bounded"
	"rollcall/proc"
)

// process is a live process of Cline.
type process struct {
	*skeleton.Process       // Named is the session that its command line resumes, CWD where its session works
	hub               bool  // it is the hub
	prompted          bool  // its command line has a prompt
	number            int   // its pid as it sees it itself, in a container
	folders           root  // that its environment and arguments name
	root              *root // that it uses; nil: none that can be read
	hosts             bool  // it hosts a session
	shows             bool  // it may be the terminal of a session that the hub hosts
	doubt             bool  // it has a session, unless it began later
}

// finder finds the processes of Cline, of which each is one of its own at once. Its program is native: "cline" in the package for a system, ".cline" where npm installed it for all
// projects (3.0.65), when a script of Node.js with the name cline starts it.
var finder = &skeleton.Finder{Nested: true, Inspect: holdsSession, Home: homeOf, Program: agentproc.Program{
	Names: []string{"cline"},
	Commands: []string{"auth", "config", "plugin", "skill", "connect", "mcp", "doctor", "history", "h", "hook", "schedule", "hub", "dashboard",
		"update", "version", "kanban", "help"},
	Flags:  []string{"-V", "--version", "-h", "--help", "--update", "--kanban", "-z", "--zen"},
	Valued: withValue,
}}

// withValue lists the options that are followed by a value.
var withValue = []string{"--auto-approve", "--compaction", "-c", "--cwd", "--id", "-P", "--provider", "-k", "--key", "-m", "--model", "-s", "--system",
	"-t", "--timeout", "--config", "--data-dir", "--hooks-dir"}

// readArguments reads the arguments after the program's name, and returns the values of options.
func (p *process) readArguments(args []string) (values map[string]string) {
	values = map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case name == "--cline-hub-daemon":
			p.hub = true
		case slices.Contains(withValue, name):
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			values[name] = value
		case strings.HasPrefix(name, "-"):
		default:
			p.prompted = true
		}
	}
	return values
}

// OwnsProcess implements adapters.ProcessOwner. The hub hosts sessions of other processes; it is not owned.
func (a *Adapter) OwnsProcess(row proc.Process) bool {
	p := finder.Process(a.Table, row)
	return p != nil && !a.inspect(p).hub
}

// holdsSession reports whether a process can host a session: it has not ended, and is not another user's, whose sessions are in no folder of this user.
func holdsSession(_ proc.Details, p *skeleton.Process) bool {
	return p.Seen.Kind == agentproc.Conversation && len(p.Seen.Line) > 0 && !errors.Is(p.EnvErr, fs.ErrPermission) && !errors.Is(p.EnvErr, proc.ErrGone)
}

// homeOf returns the data folder that the variables of an environment name.
func homeOf(env func(string) string, user string) string { return rootOf(env, user).data }

// inspect takes what the command line of a process says.
func (a *Adapter) inspect(of *skeleton.Process) *process {
	p := &process{Process: of, number: a.number(of.Identity)}
	values := p.readArguments(p.Seen.Args)
	p.Named = values["--id"]
	abs := func(path string) string { // as the process sees it
		if path != "" && p.CWD != "" && !filepath.IsAbs(path) {
			return filepath.Join(p.CWD, path)
		}
		return path
	}
	options := map[string]string{dirVariable: abs(values["--config"]), dataVariable: abs(values["--data-dir"])}
	p.folders = rootOf(func(name string) string { return cmp.Or(options[name], p.Get(name)) }, p.Get(kit.Home))
	if named := cmp.Or(values["-c"], values["--cwd"]); named != "" {
		p.CWD = abs(named)
		p.Former = nil
	}
	p.Home = p.folders.data
	return p
}

// number returns the pid of a process as it sees it itself, in a container.
func (a *Adapter) number(id proc.Identity) int {
	if inner, err := a.Table.InnerPIDs(id); err == nil && len(inner) > 0 {
		return inner[len(inner)-1]
	}
	return id.PID
}

// The variables that name places of Cline's.
const (
	dirVariable       = "CLINE_DIR"
	dataVariable      = "CLINE_DATA_DIR"
	sessionsVariable  = "CLINE_SESSION_DATA_DIR"
	databasesVariable = "CLINE_DB_DATA_DIR"
)

// root is one data folder of Cline, with the folders in which it keeps the sessions and the databases.
type root struct {
	data, sessions, databases string
	hidden                    bool // a session in it could not be read
}

// rootOf returns the root that the variables of an environment name. home is the user's, and empty where it is not known.
func rootOf(env func(name string) string, home string) root {
	path := func(name, otherwise string) string {
		if value := env(name); filepath.IsAbs(value) {
			return filepath.Clean(value)
		}
		return otherwise
	}
	data := ""
	if filepath.IsAbs(home) {
		data = filepath.Join(home, ".cline", "data")
	}
	if dir := path(dirVariable, ""); dir != "" {
		data = filepath.Join(dir, "data")
	}
	return root{data: path(dataVariable, data), sessions: path(sessionsVariable, ""), databases: path(databasesVariable, "")}
}

// dataIn returns the data folder that the user means by a path: that of CLINE_DIR or of CLINE_DATA_DIR.
func dataIn(path string) string {
	if inner := filepath.Join(path, "data"); path != "" && bounded.Answers(path) && kit.MayExist(inner) {
		return inner
	}
	return path
}

// findRoots finds the roots of the user, of live processes, and in the other homes.
func (d *discovery) findRoots() {
	own := rootOf(d.Env, d.Home)
	var used []string
	for _, p := range d.processes {
		if data, known := d.Homes.OfProcess(p.folders.data); known {
			used = append(used, data)
		} else if !d.Homes.Unresponsive(data) {
			p.folders = own // those of a process of another mount namespace have no meaning here
		}
	}
	d.Homes.Find(d.Base, own.data, used, d.Now)
	d.root(own)
	for _, p := range d.processes {
		p.root = d.root(p.folders)
	}
	for _, path := range d.Homes.Paths {
		d.root(root{data: path})
	}
}

// root returns the root with these folders, each once; nil if its file system does not answer.
func (d *discovery) root(r root) *root {
	r.sessions = cmp.Or(r.sessions, filepath.Join(r.data, "sessions"))
	r.databases = cmp.Or(r.databases, filepath.Join(r.data, "db"))
	d.Report.LookedIn(r.sessions, r.databases)
	for _, path := range []*string{&r.data, &r.sessions, &r.databases} {
		if !d.Homes.Answers(*path) {
			return nil
		}
		*path = agentproc.RealPath(*path)
	}
	if i := slices.IndexFunc(d.roots, func(known *root) bool { return known.sessions == r.sessions }); i >= 0 {
		return d.roots[i]
	}
	d.Homes.InUse = d.Homes.InUse || kit.MayExist(r.sessions)
	d.roots = append(d.roots, &r)
	return &r
}
