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
	"rollcall/adapters/internal/skeleton"
	"rollcall/proc"
)

// finder finds the processes of Grok Build, which look so (grok --help of 1.0.41): one native program, also under the name of its version. Npm's script only starts it.
var finder = &skeleton.Finder{Home: homeOf, Inspect: inspect, Program: agentproc.Program{
	Names: []string{"grok", "grok-native"}, Prefixes: []string{"grok-0.", "grok-1.", "grok-2."},
	Commands: []string{"clone", "completions", "cursor-worker", "doctor", "du", "disk-usage", "export", "help", "inspect", "leader", "login", "logout", "mcp",
		"memory", "models", "plugin", "sessions", "setup", "trace", "update", "usage", "version", "v", "worktree", "wrap"},
	Flags: []string{"-v", "--version", "-h", "--help"},
	Valued: []string{"--agent", "--agents", "--allow", "--allowedTools", "--cwd", "--debug-file", "--deny", "--disallowedTools", "--disallowed-tools", "--json-schema",
		"--leader-socket", "-m", "--model", "--max-turns", "--output-format", "-p", "--single", "--permission-mode", "--prompt-file", "--prompt-json",
		"--reasoning-effort", "--effort", "--rules", "-r", "--resume", "-s", "--session-id", "--sandbox", "--system-prompt-override", "--system-prompt",
		"--tools", "-w", "--worktree", "--worktree-ref", "--ref"},
}}

// oneRun lists the options with which a process works through one prompt, servers the words after "agent" of those that host the sessions of others (1.0.41).
var oneRun, servers = []string{"-p", "--single", "--prompt-file", "--prompt-json"}, []string{"serve", "leader", "headless"}

// heldFile matches the file that the process of a session holds open (1.0.41), logFile the log that every process of Grok Build does.
var (
	heldFile = regexp.MustCompile(`[/\\]sessions[/\\][^/\\]+[/\\]([0-9a-fA-F-]{36})[/\\]events\.jsonl$`)
	logFile  = regexp.MustCompile(`[/\\]logs[/\\]unified\.jsonl$`)
)

// process is a live process of Grok Build.
type process struct {
	*skeleton.Process                   // Hosts: it hosts the sessions of other programs, or holds none: it is no row of its own
	files             bool              // its open files are known
	log               string            // Grok Build's log, as it names that; empty: it holds none
	held              map[string]string // the sessions whose file it holds, with the path as it names that
	entry             string            // the session that the registry names
	opened            time.Time         // when the process took that session, by the clock of its records
	mains             int               // sessions of its own, without sub-agents
}

// inspect takes from a command line what the process is for.
func inspect(_ proc.Details, p *skeleton.Process) bool {
	args := p.Seen.Args
	p.Hosts = p.Seen.Kind == agentproc.Helper || slices.Contains(args, "agent") && slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(servers, arg) })
	p.Headless = slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(oneRun, name)
	})
	return true
}

// readOpenFiles adds a process with what the files show that it has open, unless it has ended meanwhile.
func (d *discovery) readOpenFiles(of *skeleton.Process) {
	p := &process{Process: of, held: map[string]string{}}
	open, err := d.Table.OpenFiles(p.Identity)
	p.files = err == nil
	if err != nil && !d.Table.Alive(p.Identity) {
		return
	}
	for _, path := range open {
		if m := heldFile.FindStringSubmatch(path); m != nil {
			p.held[m[1]] = path
		}
		if logFile.MatchString(path) {
			p.log = path
		}
	}
	d.processes = append(d.processes, p)
}

// OwnsProcess implements adapters.ProcessOwner.
func (a *Adapter) OwnsProcess(row proc.Process) bool { return finder.Owns(a.Base, row) }

// readRegistry reads which session each process has (1.0.41: terminals alone, and an entry outlives a process that was killed). An entry that is older than the
// process is another one's, unless the process holds the session's file: the start of a process moves when the clock is set.
func (d *discovery) readRegistry() {
	for _, home := range d.Homes.Paths {
		path := filepath.Join(home, "active_sessions.json")
		data, err := kit.ReadWhole(d.Ctx, path)
		d.Hidden = d.Report.Failed(path, err) || d.Hidden
		kit.Each(data, func(entry []byte) {
			id, opened := kit.Short(agentfile.Get(entry, "session_id")), agentfile.Time(agentfile.Get(entry, "opened_at"))
			for _, p := range d.processes {
				pids, _ := d.Table.InnerPIDs(p.Identity)
				isNewer := p.held[id] != "" || !opened.Before(p.Started.Add(-kit.StartSlack))
				if p.Uses(home) && slices.Contains(append(pids, p.PID), int(kit.Count(entry, "pid"))) && isNewer {
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
			if p.Uses(s.Home) && (p.held[s.id] != "" || !p.files && p.entry == s.id) {
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
	if d.Homes.Unresponsive(p.Home) {
		return p.Row(d.Look, false, false, false), true
	}
	row = p.Row(d.Look, false, true, false)
	switch {
	case p.Hosts, p.files && p.log == "" && len(p.held) == 0:
		return row, false
	case d.Hidden, len(p.held) > 0, !p.files && p.entry != "":
		row.Status = adapters.Unknown
		row.Evidence += ", or one that could not be read"
	case p.Headless:
		row.Status = adapters.Working
		row.Evidence += ": it was started for one prompt"
	}
	return row, true
}
