package kimi

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc"
)

// title is the name that Kimi Code gives its process 1 to 7 s after its start. It overwrites its command line with it, and fills the rest with zeros (2.1.0).
const title = "kimi-code"

// program is how the processes of Kimi Code look (2.1.0).
var program = agentproc.Program{Names: []string{title, "kimi"}, Packages: []string{"kimi-code"},
	Flags:    []string{"-V", "--version", "-h", "--help"},
	Commands: []string{"export", "fork", "provider", "session", "login", "doctor", "vis", "install-desktop", "migrate", "upgrade", "update"}}

// hosts lists the sub-commands that hold sessions of other programs.
var hosts = []string{"acp", "web", "server", "rc", "remote"}

// forkTime is the longest time for which a child may still look like its parent.
const forkTime = time.Second

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
	kit.NodeProcess
	start   start
	session *session
	several bool // it has several sessions
	served  bool // it is `kimi web`
	doubt   bool // it may have one of several sessions
	asked   bool // its terminal was
}

// inspect returns the details of a process, and nil if it is none that can hold a session.
func inspect(table proc.Lister, row proc.Process) *process {
	seen := program.Identify(table, row)
	if seen.Kind != agentproc.Conversation || seen.Err != nil {
		return nil
	}
	env, err := table.Env(row.Identity)
	if err != nil {
		return nil
	}
	p := &process{NodeProcess: kit.NodeProcess{Process: row}}
	p.Home = kit.Get(env, homeVariable)
	if home := kit.Get(env, kit.Home); p.Home == "" && home != "" {
		p.Home = filepath.Join(home, folderName)
	}
	p.Started, p.SetBack = agentproc.Started(table, row)
	p.CWD, _ = table.CWD(row.Identity)
	p.Former = adapters.FormerFolders(env, p.CWD, row.Started)
	if length, err := table.ArgsSize(row.Identity); err != nil || len(seen.Line) != 1 || length == len(title)+1 {
		p.readArgs(seen.Args)
	} else {
		p.start, p.Hosts = startOf(length, env)
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

// findProcesses finds the homes to look in, and the live processes that use them, in the order of their starts.
func (d *discovery) findProcesses(ctx context.Context) {
	rows, known := d.Processes(ctx, d.answer)
	found, used := map[int]*process{}, []string(nil)
	for _, row := range rows {
		if p := inspect(d.Table, row); p != nil {
			p.Home, p.Known = d.homes.OfProcess(p.Home)
			found[row.PID] = p
		}
	}
	for _, p := range found {
		if p.Known {
			used = append(used, p.Home)
		}
	}
	d.homes.Find(d.Base, filepath.Clean(cmp.Or(d.Env(homeVariable), filepath.Join(d.Home, folderName))), used, d.now)
	for _, row := range rows {
		if p, parent := found[row.PID], found[row.PPID]; p == nil && parent != nil {
			parent.Children = append(parent.Children, row)
		} else if p != nil && (parent == nil || d.now.Sub(p.Started) >= forkTime) &&
			(!p.Known || slices.Contains(d.homes.Paths, p.Home) || d.homes.Unresponsive(p.Home)) {
			d.processes = append(d.processes, p)
		}
	}
	slices.SortFunc(d.processes, func(a, b *process) int { return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID) })
	d.homes.NoTable, d.homes.InUse = !known, len(d.processes) > 0
}

// findServers marks the processes that the registry of a home names as servers.
func (d *discovery) findServers(home string) {
	dir := filepath.Join(home, "server", "instances")
	entries, err := agentfile.Entries(d.ctx, dir)
	d.answer.Failed(dir, err)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		data, _, err := agentfile.ReadSmall(path, 64<<10)
		d.answer.Failed(path, err)
		pid, _ := agentfile.Int(agentfile.Get(data, "pid"))
		began := millis(agentfile.Get(data, "started_at"))
		for _, p := range d.processes {
			if int64(p.PID) == pid && p.Uses(home) && !began.Before(p.Started.Add(-kit.StartSlack)) {
				p.served, p.Hosts = true, true
			}
		}
	}
}
