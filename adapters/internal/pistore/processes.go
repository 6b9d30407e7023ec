package pistore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc"
)

// process is a live process of either agent.
type process struct {
	proc.Process
	agent  adapters.Name
	cwd    string // the folder of the session, as far as it follows from that of the process
	oldCWD string // cwd before the folder was moved
	// mayHaveSession reports that the process may have a session of a folder that is gone.
	mayHaveSession bool
	known          bool     // places are set
	places         []string // the folders that it writes to, as it names them, also in a container
	folders        []string // places without symbolic links: a home may be moved and linked
	namedFolders   []string // those of places that its environment names
	env            map[string]string
	args           []string // pi_agent_rust's; Pi erases its own
	noSession      bool     // pi_agent_rust with --no-session
	file           string   // session file that its command line names
	flagDir        string   // folder of sessions that its command line names
	ignore         bool     // it is no conversation
	// unresponsive is a folder with sessions of the process whose file system does not
	// answer. The process then has no session that can be read.
	unresponsive string
	children     []toolProcess
	// watches lists the folders that the process watches: in a terminal, the folder of
	// HEAD in its session's repository.
	watches          map[proc.FileID]bool
	watchesElsewhere bool // it watches something, and not the repository of its own folder
	// contained reports that the process runs in a container, with its own home.
	contained bool
	headless  bool // it was started for one run, without an interface
	moved     bool // cwd was derived from watches
	mayWork   bool // it works on a session that is older than itself if the clock was set
	setBack   bool // the clock was set back since it began: what it does seems older than it is

	threadStart     time.Time // see discovery.threadStart
	threadStartRead bool      // threadStart was looked for
}

// toolProcess is a child of a process.
type toolProcess struct {
	proc.Process
	session string // PI_SESSION_ID: the session whose tool it is
	file    string // PI_SESSION_FILE
}

// environment lists the variables that are read of a process.
var environment = []string{kit.Home, "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "PI_SESSIONS_DIR",
	"PI_SESSION_ID", "PI_SESSION_FILE", "PWD"}

// notSessions lists the sub-commands and options of pi_agent_rust that start no conversation.
var notSessions = []string{"install", "remove", "update", "update-index", "search", "info", "list", "config", "doctor",
	"migrate", "account", "--version", "--help", "--list-models", "--list-providers", "--export"}

// takeCensus finds the agents' processes.
func (d *discovery) takeCensus() {
	rows, known := d.store.Processes(d.ctx, d.answer)
	d.roots.NoTable = !known
	children := map[int][]proc.Process{}
	pis := map[int]*process{}
	d.parents = make(map[int]int, len(rows))
	for _, row := range rows {
		d.parents[row.PID] = row.PPID
		children[row.PPID] = append(children[row.PPID], row)
		if p := d.look(row); p != nil {
			pis[p.PID] = p
		}
	}
	for _, row := range rows {
		p := pis[row.PID]
		if p == nil || p.ignore || d.forked(p, pis[p.PPID]) {
			continue
		}
		for _, c := range children[p.PID] {
			p.children = append(p.children, d.toolProcess(p, c))
		}
		d.processes = append(d.processes, p)
	}
	slices.SortFunc(d.processes, func(a, b *process) int {
		return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID)
	})
}

// forkTime is the longest time for which a child process may look like its parent.
const forkTime = time.Second

// forked reports whether p is a child of a Pi that is about to become another
// program.
func (d *discovery) forked(p, parent *process) bool {
	return parent != nil && p.env["PI_SESSION_ID"] == parent.env["PI_SESSION_ID"] && d.now.Sub(p.Started) < forkTime
}

// look returns the details of a process, and nil if it is neither agent.
func (d *discovery) look(row proc.Process) *process {
	if !mayBePi(row.Comm) {
		return nil
	}
	p := d.inspect(row)
	if p == nil {
		return nil
	}
	p.Process = row
	p.Started, p.setBack = agentproc.Started(d.store.Table, row)
	for _, place := range p.places {
		p.folders = append(p.folders, agentproc.RealPath(place))
	}
	if p.file != "" {
		p.file = agentproc.RealPath(p.file)
	}
	p.cwd, _ = d.store.Table.CWD(row.Identity)
	if former := adapters.FormerFolders([]string{"PWD=" + p.env["PWD"]}, p.cwd, row.Started); len(former) > 0 {
		p.oldCWD = former[len(former)-1]
	}
	p.setSessionDir()
	return p
}

// OwnsProcess implements adapters.ProcessOwner. A child that Pi is about to turn
// into a tool still has Pi's name; it is not owned.
func (s *Store) OwnsProcess(p proc.Process) bool {
	d := s.discovery(context.Background(), adapters.Query{})
	own := d.look(p)
	if own == nil || own.agent != s.Name() || own.ignore {
		return false
	}
	if d.now.Sub(p.Started) >= forkTime {
		return true
	}
	parent, err := s.Table.Find(p.PPID)
	return err != nil || !d.forked(own, d.look(parent))
}

// mayBePi reports whether a process can be either agent, by its name. Both are named
// pi; Pi sets that name itself, on systems with process titles.
func mayBePi(comm string) bool { return isNamedPi(comm) || agentproc.IsInterpreter(comm) }

func isNamedPi(name string) bool {
	return slices.ContainsFunc([]string{"pi", "pi-rpc", "legacy-pi"}, func(n string) bool { return adapters.IsNamed(name, n) })
}

// inspect reads the details of a process that its files, its command line and its environment show.
func (d *discovery) inspect(row proc.Process) *process {
	exe, err := d.store.Table.Exe(row.Identity)
	if errors.Is(err, proc.ErrGone) || errors.Is(err, fs.ErrPermission) {
		return nil // of another user: its sessions aren't in this user's folders
	}
	p := &process{env: map[string]string{}}
	p.args, _ = d.store.Table.Args(row.Identity)
	cwd, _ := d.store.Table.CWD(row.Identity)
	if isNamedPi(row.Comm) && !bounded.Answers(filepath.Dir(exe)) { // it is not known which agent it is
		return nil
	}
	p.agent = agentOf(row.Comm, exe, cwd, p.args)
	if p.agent == "" {
		return nil
	}
	env, envErr := d.store.Table.Env(row.Identity)
	for _, name := range environment {
		p.env[name] = kit.Get(env, name)
	}
	d.setFolders(p, envErr)
	if p.agent == Pi && agentproc.IsInterpreter(row.Comm) { // not erased yet, or by an old version never
		_, flags := agentproc.Script(p.args)
		p.readArgs(flags)
	}
	if p.agent == PiRust {
		p.readArgs(p.args[min(1, len(p.args)):])
		if p.unresponsive == "" && !p.hasStore() {
			return nil // some other program of that name
		}
	}
	return p
}

// setFolders sets the folders in which the process writes its sessions.
func (d *discovery) setFolders(p *process, err error) {
	home := p.env[kit.Home]
	if err != nil || home == "" {
		return
	}
	agent := filepath.Join(home, ".pi", "agent")
	if dir := expandHome(p.env["PI_CODING_AGENT_DIR"], home); dir != "" {
		agent = dir
	}
	p.namedFolders = append(p.namedFolders, filepath.Join(agent, "sessions"))
	for _, dir := range []string{home, agent} {
		if !d.roots.Answers(dir) {
			p.known, p.unresponsive = true, dir
			return
		}
	}
	contained := agentproc.Contains(home)
	if _, err := os.Stat(home); err != nil {
		p.ignore = contained
		return // of another mount namespace: its paths have no meaning here
	}
	p.contained = contained
	p.known, p.places = true, append(p.places, filepath.Join(agent, "sessions"))
	set, _ := readSettings(filepath.Join(agent, "settings.json"))
	if dir := expandHome(p.env["PI_SESSIONS_DIR"], home); dir != "" {
		p.namedFolders = append(p.namedFolders, dir)
		p.places = append(p.places, dir)
	}
	if dir := expandHome(set.SessionDir, home); dir != "" {
		p.places = append(p.places, dir)
		p.namedFolders = append(p.namedFolders, dir)
	}
}

// hasStore reports whether one of the folders of a process exists.
func (p *process) hasStore() bool {
	return p.known && slices.ContainsFunc(p.places, func(dir string) bool { return mayExist(filepath.Dir(dir)) })
}

// toolProcess reads which session a child works for. A child that hasn't become its program
// yet, or that is not a tool, has its parent's environment.
func (d *discovery) toolProcess(p *process, row proc.Process) toolProcess {
	k := toolProcess{Process: row}
	env, _ := d.store.Table.Env(row.Identity)
	if id := kit.Get(env, "PI_SESSION_ID"); id != p.env["PI_SESSION_ID"] {
		k.session = id
	}
	if path := kit.Get(env, "PI_SESSION_FILE"); path != p.env["PI_SESSION_FILE"] {
		k.file = path
	}
	return k
}

// uses reports whether a process may have sessions in a root.
func (p *process) uses(root string) bool {
	return !p.known || slices.Contains(p.folders, root)
}
