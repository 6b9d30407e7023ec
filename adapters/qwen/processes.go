package qwen

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc"
)

// process is a live process of Qwen Code: the innermost of two or three, which works.
type process struct {
	proc.Process
	cwd   string
	home  string // its .qwen
	known bool   // home exists here
	named string // the session that its command line names
	mode  string // of its command line; empty: the settings decide
	// resumes reports that it continues a session that its command line does not name. headless reports that it
	// works through one prompt, hosts that other programs give it its sessions (ACP, serve).
	resumes, headless, hosts bool
	entries                  []entry   // of the registry
	wrote                    time.Time // when it wrote its entry, by the clock of its records; zero: it has none with its start
	children                 []child
	remote                   remote

	sessions []*session
}

// child is a process that Qwen Code started. session is the session whose tool it is, where its environment says it (0.24.4).
type child struct {
	proc.Process
	session string
	tool    bool
}

// entry is what a file of the registry says (0.24.4). The token in it is not read.
type entry struct{ session, path, kind string }

const (
	// inner is the variable that an outer process sets for the innermost one (0.15.6, 0.24.4).
	inner = "QWEN_CODE_NO_RELAUNCH"
	// forkTime is the longest time for which a child may still look like its parent.
	forkTime = time.Second
	// slack is the precision of the start of a process.
	slack = 20 * time.Millisecond
	// schema is the newest form of the registry's files that is known.
	schema = 1
	// maxEntry bounds a file of the registry, in bytes.
	maxEntry = 64 << 10
)

// isProgram reports whether a script is Qwen Code's, also through the link that npm makes. In a container only the link's name can be seen.
func isProgram(script, cwd string) bool {
	const place = "/qwen-code/"
	if strings.Contains(filepath.ToSlash(script), place) {
		return true
	}
	if filepath.Base(script) != "qwen" {
		return false
	}
	if !filepath.IsAbs(script) {
		script = filepath.Join(cwd, script)
	}
	if !bounded.Answers(script) { // only its name is known
		return true
	}
	if _, err := os.Lstat(script); err != nil {
		return true
	}
	return strings.Contains(filepath.ToSlash(agentproc.RealScript(script, cwd)), place)
}

// inspect returns the details of a process, and nil if it is none of Qwen Code's that host sessions.
func (a *Adapter) inspect(row proc.Process) *process {
	if !agentproc.IsInterpreter(row.Comm) {
		return nil
	}
	line, err := a.Table.Args(row.Identity)
	if err != nil {
		return nil
	}
	script, args := agentproc.Script(line)
	if script == "" || filepath.Base(script) != "qwen" && !strings.Contains(filepath.ToSlash(script), "/qwen-code/") {
		return nil
	}
	env, err := a.Table.Env(row.Identity)
	if err != nil || kit.Get(env, inner) == "" {
		return nil
	}
	p := &process{Process: row}
	p.cwd, _ = a.Table.CWD(row.Identity)
	if !isProgram(script, p.cwd) || !p.readArgs(args) {
		return nil
	}
	if p.home = kit.Get(env, homeVariable); p.home == "" && kit.Get(env, kit.Home) != "" {
		p.home = filepath.Join(kit.Get(env, kit.Home), folderName)
	}
	return p
}

// readArgs reads the command line after the script, and reports whether the process hosts sessions.
func (p *process) readArgs(args []string) bool {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			value = args[i+1]
		}
		switch name {
		case "--":
			return true
		case "mcp", "extensions", "sessions", "auth", "channel", "hooks", "review":
			if i == 0 {
				return false
			}
		case "serve":
			p.hosts = p.hosts || i == 0
		case "--version", "-v", "--help", "-h", "--list-extensions", "-l":
			return false
		case "--session-id":
			p.named = value
		case "--resume", "-r":
			if p.resumes = !kit.Is(value); !p.resumes {
				p.named = value
			}
		case "--continue", "-c":
			p.resumes = true
		case "--json-file":
			p.remote.events = value
		case "--input-file":
			p.remote.input = value
		case "--approval-mode":
			p.mode = value
		case "--yolo", "-y":
			p.mode = "yolo"
		case "-p", "--prompt", "-o", "--output-format":
			p.headless = true
		case "--acp", "--experimental-acp":
			p.hosts = true
		}
	}
	return true
}

// names reports whether the process or what it shows names a session as its own.
func (p *process) names(id string) bool {
	return p.named == id || slices.ContainsFunc(p.entries, func(e entry) bool { return e.session == id }) ||
		slices.ContainsFunc(p.children, func(c child) bool { return c.session == id })
}

// began returns when the process began, by the clock of its records where it is known: Started moves when the clock is set.
func (p *process) began() time.Time {
	if !p.wrote.IsZero() {
		return p.wrote
	}
	return p.Started
}

// OwnsProcess implements adapters.ProcessOwner. A child that has yet to become a tool looks like its parent; it is not owned.
func (a *Adapter) OwnsProcess(row proc.Process) bool {
	if a.inspect(row) == nil {
		return false
	}
	parent, err := a.Table.Find(row.PPID)
	return err != nil || a.Now().Sub(row.Started) >= forkTime || a.inspect(parent) == nil
}

// readProcesses finds the processes of Qwen Code.
func (d *discovery) readProcesses() {
	table := d.adapter.Table
	rows, ok := d.adapter.Processes(d.ctx, d.answer)
	d.noTable = !ok
	found := map[int]*process{}
	for _, row := range rows {
		if p := d.adapter.inspect(row); p != nil {
			found[row.PID] = p
		}
	}
	for _, p := range found {
		if found[p.PPID] != nil && d.now.Sub(p.Started) < forkTime {
			continue
		}
		for _, row := range rows {
			if row.PPID != p.PID || found[row.PID] != nil {
				continue
			}
			env, _ := table.Env(row.Identity)
			p.children = append(p.children, child{row, kit.Get(env, "QWEN_CODE_SESSION_ID"), kit.Get(env, "QWEN_CODE") != "" || kit.Get(env, "QWEN_CODE_SESSION_ID") != ""})
		}
		d.processes = append(d.processes, p)
	}
	slices.SortFunc(d.processes, func(a, b *process) int { return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID) })
}

// readEntries reads what the registry of each process's home says of the process.
func (d *discovery) readEntries() {
	for _, home := range d.roots.Paths {
		dir := filepath.Join(home, "sessions")
		if !slices.ContainsFunc(d.processes, func(p *process) bool { return !p.known || p.home == home }) {
			continue
		}
		files, err := agentfile.Entries(d.ctx, dir)
		d.failed(dir, err)
		for _, p := range d.processes {
			if p.known && p.home != home {
				continue
			}
			pids, _ := d.adapter.Table.InnerPIDs(p.Identity)
			for _, f := range files {
				name, isEntry := strings.CutSuffix(f.Name(), ".json")
				number, _, _ := strings.Cut(name, "-")
				if pid, err := strconv.Atoi(number); isEntry && err == nil && (pid == p.PID || slices.Contains(pids, pid)) {
					d.readEntry(p, filepath.Join(dir, f.Name()), pid)
				}
			}
		}
	}
}

// readEntry reads one file of the registry. An entry of an earlier process with the same pid says nothing.
func (d *discovery) readEntry(p *process, path string, pid int) {
	data, _, err := agentfile.ReadSmall(path, maxEntry)
	if err != nil {
		d.failed(path, err)
		return
	}
	version, _ := agentfile.Int(agentfile.Get(data, "schemaVersion"))
	said, _ := agentfile.Int(agentfile.Get(data, "pid"))
	id := short(agentfile.Get(data, "sessionId"))
	switch {
	case version > schema:
		d.answer.Skip("entry of a newer registry", 1)
		return
	case said != int64(pid) || !kit.Is(id):
		d.answer.Skip("entry of the registry without a session", 1)
		return
	}
	millis, dated := agentfile.Int(agentfile.Get(data, "startedAt"))
	if start := short(agentfile.Get(data, "procStart")); start != "" {
		_, ticks, _ := strings.Cut(start, ":")
		if ticks != strconv.FormatUint(p.Start, 10) {
			return
		}
		if dated {
			p.wrote = time.UnixMilli(millis)
		}
	} else if time.UnixMilli(millis).Before(p.Started.Add(-time.Second)) {
		return
	}
	p.entries = append(p.entries, entry{id, path, short(agentfile.Get(data, "kind"))})
}
