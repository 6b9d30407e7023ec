package grok

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// program is how the processes of Grok Build look (grok --help of 1.0.41): one native program, also under the name of its version. Npm's script only starts it.
var program = &agentproc.Program{
	Names: []string{"grok", "grok-native"}, Prefixes: []string{"grok-0.", "grok-1.", "grok-2."},
	Commands: []string{"clone", "completions", "cursor-worker", "doctor", "du", "disk-usage", "export", "help", "inspect", "leader", "login", "logout", "mcp",
		"memory", "models", "plugin", "sessions", "setup", "trace", "update", "usage", "version", "v", "worktree", "wrap"},
	Flags: []string{"-v", "--version", "-h", "--help"},
	Valued: []string{"--agent", "--agents", "--allow", "--allowedTools", "--cwd", "--debug-file", "--deny", "--disallowedTools", "--disallowed-tools", "--json-schema",
		"--leader-socket", "-m", "--model", "--max-turns", "--output-format", "-p", "--single", "--permission-mode", "--prompt-file", "--prompt-json",
		"--reasoning-effort", "--effort", "--rules", "-r", "--resume", "-s", "--session-id", "--sandbox", "--system-prompt-override", "--system-prompt",
		"--tools", "-w", "--worktree", "--worktree-ref", "--ref"},
}

// oneRun lists the options with which a process works through one prompt, servers the words after "agent" of those that host the sessions of others (1.0.41).
var oneRun, servers = []string{"-p", "--single", "--prompt-file", "--prompt-json"}, []string{"serve", "leader", "headless"}

// heldFile matches the file that the process of a session holds open (1.0.41), logFile the log that every process of Grok Build does.
var (
	heldFile = regexp.MustCompile(`[/\\]sessions[/\\][^/\\]+[/\\]([0-9a-fA-F-]{36})[/\\]events\.jsonl$`)
	logFile  = regexp.MustCompile(`[/\\]logs[/\\]unified\.jsonl$`)
)

// process is a live process of Grok Build.
type process struct {
	proc.Process // Started is by the clock of its files
	cwd          string
	home         string            // as this machine names it
	known        bool              // home exists here
	headless     bool              // it works through one prompt
	serves       bool              // it hosts the sessions of other programs, or holds none: it is no row of its own
	files        bool              // its open files are known
	log          string            // Grok Build's log, as it names that; empty: it holds none
	held         map[string]string // the sessions whose file it holds, with the path as it names that
	entry        string            // the session that the registry names
	opened       time.Time         // when the process took that session, by the clock of its records
	mains        int               // sessions of its own, without sub-agents
}

// forkTime is the longest time for which a child may still look like its parent.
const forkTime = time.Second

// uses reports whether a process may have sessions in a home.
func (p *process) uses(home string) bool { return !p.known || p.home == home }

// takeCensus finds the processes of Grok Build, in the order of their starts.
func (d *discovery) takeCensus() {
	rows, known := d.Processes(d.ctx, d.answer)
	d.homes.NoTable = !known
	found := map[int]*process{}
	for _, row := range rows {
		if p := d.inspect(row); p != nil {
			found[row.PID] = p
		}
	}
	for _, p := range found {
		if found[p.PPID] == nil || d.now.Sub(p.Started).Abs() >= forkTime { // not a copy that is about to become a tool
			d.processes = append(d.processes, p)
		}
	}
	slices.SortFunc(d.processes, func(a, b *process) int { return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID) })
}

// inspect reads what a process shows of itself. It returns nil for one that is not Grok Build's.
func (d *discovery) inspect(row proc.Process) *process {
	seen := program.Identify(d.Table, row)
	if seen.Kind == agentproc.Foreign {
		return nil
	}
	env, _ := d.Table.Env(row.Identity)
	p := &process{Process: row, serves: seen.Kind == agentproc.Helper, held: map[string]string{}}
	p.home = homeOf(func(name string) string { return kit.Get(env, name) }, kit.Get(env, kit.Home))
	p.Started, _ = agentproc.Started(d.Table, row)
	p.cwd, _ = d.Table.CWD(row.Identity)
	p.readArgs(seen.Args)
	open, err := d.Table.OpenFiles(row.Identity)
	p.files = err == nil
	if err != nil && !d.Table.Alive(row.Identity) {
		return nil // it has ended meanwhile
	}
	for _, path := range open {
		if m := heldFile.FindStringSubmatch(path); m != nil {
			p.held[m[1]] = path
		}
		if logFile.MatchString(path) {
			p.log = path
		}
	}
	return p
}

// readArgs takes from a command line what the process is for.
func (p *process) readArgs(args []string) {
	p.serves = p.serves || slices.Contains(args, "agent") && slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(servers, arg) })
	p.headless = slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(oneRun, name)
	})
}

// OwnsProcess implements adapters.ProcessOwner. A child that has yet to become a tool looks like its parent; it is not owned.
func (a *Adapter) OwnsProcess(row proc.Process) bool {
	if seen := program.Identify(a.Table, row); seen.Kind != agentproc.Conversation || seen.Err != nil {
		return false
	}
	parent, err := a.Table.Find(row.PPID)
	return err != nil || a.Now().Sub(row.Started).Abs() >= forkTime || program.Identify(a.Table, parent).Kind == agentproc.Foreign
}

// readRegistry reads which session each process has (1.0.41: terminals alone, and an entry outlives a process that was killed). An entry that is older than the
// process is another one's, unless the process holds the session's file: the start of a process moves when the clock is set.
func (d *discovery) readRegistry() {
	for _, home := range d.homes.Paths {
		path := filepath.Join(home, "active_sessions.json")
		data, err := kit.ReadWhole(d.ctx, path)
		d.hidden = d.answer.Failed(path, err) || d.hidden
		kit.Each(data, func(entry []byte) {
			id, opened := kit.Short(agentfile.Get(entry, "session_id")), agentfile.Time(agentfile.Get(entry, "opened_at"))
			for _, p := range d.processes {
				pids, _ := d.Table.InnerPIDs(p.Identity)
				isNewer := p.held[id] != "" || !opened.Before(p.Started.Add(-kit.StartSlack))
				if p.uses(home) && slices.Contains(append(pids, p.PID), int(kit.Count(entry, "pid"))) && isNewer {
					p.entry, p.opened = id, opened
				}
			}
		})
	}
}

// match finds the processes of each session: those that hold its file, and where open files can't be seen, the one that the registry names.
func (d *discovery) match() {
	if len(d.processes) > 0 {
		d.readRegistry()
	}
	for _, p := range d.processes {
		for _, s := range d.sessions {
			if p.uses(s.Home) && (p.held[s.id] != "" || !p.files && p.entry == s.id) {
				s.owners = append(s.owners, p)
			}
		}
	}
}

// writer returns the process that wrote the last record of a session, which any number can have resumed (1.0.41). none reports that none of them did, doubt that
// it is not known: a process that wrote nothing in the session and something in the log may be one whose writing the system does not show.
func (d *discovery) writer(s *session) (p *process, none, doubt bool) {
	none, doubt = true, len(s.owners) > 1
	for _, o := range s.owners {
		ends, _ := d.Table.Appended(o.Identity, cmp.Or(o.held[s.id], s.Path))
		logged, _ := d.Table.Appended(o.Identity, o.log)
		if len(ends) > 0 && ends[0] >= s.Info.Size() {
			return o, false, false
		}
		none = none && len(ends) > 0
		doubt = doubt || len(ends) == 0 && len(logged) > 0
	}
	return nil, none, doubt
}

// isOlder reports whether the open turn of a session began before the process that has it.
func (s *session) isOlder() bool {
	p := s.owner()
	began := p.Started
	if p.entry == s.id && p.opened.Before(began) {
		began = p.opened
	}
	return s.events.turn.at.Before(began.Add(-kit.StartSlack))
}

// processRow returns the row of a process without a session. ok is false for one that is none: a server, and another program with the same name, which has no log.
func (d *discovery) processRow(p *process) (row adapters.Session, ok bool) {
	if d.homes.Unresponsive(p.home) {
		return adapters.UnresponsiveProcess(Name, p.Process, p.cwd, p.home), true
	}
	row = adapters.ProcessSession(Name, p.Process, p.cwd)
	switch {
	case p.serves, p.files && p.log == "" && len(p.held) == 0:
		return row, false
	case d.hidden, len(p.held) > 0, !p.files && p.entry != "":
		row.Status = adapters.Unknown
		row.Evidence += ", or one that could not be read"
	case p.headless:
		row.Status = adapters.Working
		row.Evidence += ": it was started for one prompt"
	}
	return row, true
}
