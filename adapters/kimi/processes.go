package kimi

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
	"rollcall/bounded"
)

// title is the name that Kimi Code gives its process 1 to 7 s after its start. It overwrites its command line with it, and fills the rest with zeros (2.1.0).
const title = "kimi-code"

// finder finds the processes of Kimi Code (2.1.0).
var finder = &skeleton.Finder{Home: homeOf, Program: agentproc.Program{Names: []string{title, "kimi"}, Packages: []string{"kimi-code"},
	Flags:    []string{"-V", "--version", "-h", "--help"},
	Commands: []string{"export", "fork", "provider", "session", "login", "doctor", "vis", "install-desktop", "migrate", "upgrade", "update"}}}

// hosts lists the sub-commands that hold sessions of other programs.
var hosts = []string{"acp", "web", "server", "rc", "remote"}

// start is what the command line of a process shows of its session.
type start int

const (
	anyStart  start = iota // anything
	plain                  // a new session
	continues              // the last session of its folder
	names                  // one session, by its id
	maybe                  // a new session, or one by its id
)

// process is a live process of Kimi Code.
type process struct {
	*skeleton.Process
	start   start
	session *session
	several bool // it has several sessions
	served  bool // it is `kimi web`
	doubt   bool // it may have one of several sessions
	asked   bool // its terminal was
	title   string
}

// homeOf returns the home that the variables of an environment name.
func homeOf(env func(string) string, user string) string {
	home := env(homeVariable)
	if home == "" && user != "" {
		home = filepath.Join(user, folderName)
	}
	return home
}

// inspect adds to a process what shows which session it has.
func (d *discovery) inspect(of *skeleton.Process) *process {
	p := &process{Process: of}
	if length, err := d.Table.ArgsSize(p.Identity); err != nil || len(p.Seen.Line) != 1 || length == len(title)+1 {
		p.readArgs(p.Seen.Args)
	} else {
		p.start, p.Hosts = startOf(length, p.Env)
	}
	return p
}

// readArgs reads the command line of a young process.
func (p *process) readArgs(args []string) {
	p.Hosts = len(args) > 0 && slices.Contains(hosts, args[0])
	if len(args) == 0 {
		p.start = plain
	}
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "-S", "-r", "--session", "--resume":
			if strings.HasPrefix(value, sessionPrefix) {
				p.Named = value
			}
		case "-c", "--continue":
			p.start = continues
		case "-p", "--prompt":
			p.Headless = true
		}
	}
}

// idLength is the length of an id with its zero byte.
const idLength = len(sessionPrefix) + 36 + 1

// startOf returns what the length of an erased command line shows, which is the one that it had: of `node SCRIPT` alone, with -c, or with the id of a session.
// Where SCRIPT is not known from the process's PATH, any length that has room for an id may have one. hosted reports the sub-command acp.
func startOf(length int, env []string) (s start, hosted bool) {
	const node = len("node") + 1
	script := scriptIn(env)
	if script == "" {
		switch hasRoom := length >= node+len("/kimi")+1+3+idLength; {
		case !hasRoom:
			return plain, false
		case kit.Get(env, "PATH") == "": // a script of the interpreter's own path could not have been found
			return names, false
		}
		return maybe, false
	}
	switch rest := length - node - len(script) - 1; rest {
	case 0:
		return plain, false
	case len("-c") + 1, len("--continue") + 1:
		return continues, false
	case len("acp") + 1:
		return anyStart, true
	case len("-r") + 1 + idLength, len("--resume") + 1 + idLength, len("--session") + 1 + idLength:
		return names, false
	}
	return anyStart, false
}

// scriptIn returns the path with which a shell starts the agent that has the environment env; empty: it is not known.
func scriptIn(env []string) string {
	for _, dir := range filepath.SplitList(kit.Get(env, "PATH")) {
		path := filepath.Join(dir, "kimi")
		if !bounded.Answers(dir) {
			return ""
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// findServers marks the processes that the registry of a home names as servers.
func (d *discovery) findServers(home string) {
	dir := filepath.Join(home, "server", "instances")
	entries, err := agentfile.Entries(d.Ctx, dir)
	d.Report.Failed(dir, err)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		data, _, err := agentfile.ReadSmall(path, 64<<10)
		d.Report.Failed(path, err)
		pid, _ := agentfile.Int(agentfile.Get(data, "pid"))
		began := millis(agentfile.Get(data, "started_at"))
		for _, p := range d.processes {
			if int64(p.PID) == pid && p.Uses(home) && p.Precedes(began) {
				p.served, p.Hosts = true, true
			}
		}
	}
}
