package pistore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// process is a live process of either agent.
type process struct {
	proc.Process
	agent adapters.Name
	cwd   string // of the session, as far as that can be told from its own
	was   string // cwd before the folder was moved
	// known says that the folders that it writes to are known: places. A process
	// of a container names them as they are there.
	known  bool
	places []string
	named  []string // those of places that its environment names itself
	env    map[string]string
	args   []string // pi_agent_rust's; Pi erases its own
	self   bool     // pi_agent_rust with --no-session
	file   string   // session file that its command line names
	ignore bool     // it is no conversation
	kids   []kid
	// watches are the folders that it watches: that of HEAD of its session's
	// repository, in a terminal.
	watches map[proc.FileID]bool
	strayed bool // it watches something, and not the repository of its own folder

	comm  string // when it was inspected
	final bool   // and it was past the time in which it may exec
}

// kid is a child of a process.
type kid struct {
	proc.Process
	session string // PI_SESSION_ID: the session whose tool it is
	file    string // PI_SESSION_FILE
}

// environment is what is read of one.
var environment = []string{homeVariable, "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "PI_SESSIONS_DIR",
	"PI_SESSION_ID", "PI_SESSION_FILE", "PWD"}

// notSessions are the sub-commands of pi_agent_rust that hold no conversation.
var notSessions = []string{"install", "remove", "update", "update-index", "search", "info", "list", "config", "doctor",
	"migrate", "account", "--version", "--help", "--list-models", "--list-providers", "--export"}

// takeCensus finds the agents' processes.
func (d *discovery) takeCensus() {
	rows, err := d.table.List(d.ctx)
	if err != nil {
		d.tableErr = err
		if d.name == adapters.Pi || len(rows) > 0 {
			d.problem(&adapters.Problem{Kind: adapters.ErrUnreadable, Path: "process table", Err: err,
				Fix: "without it, running sessions can't be told"})
		}
	}
	d.blind = err != nil && len(rows) == 0
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
			p.kids = append(p.kids, d.kid(p, c))
		}
		d.processes = append(d.processes, p)
	}
	slices.SortFunc(d.processes, func(a, b *process) int {
		if c := a.Started.Compare(b.Started); c != 0 {
			return c
		}
		return a.PID - b.PID
	})
}

// forkTime is how long a process that another one starts looks like that one at
// most.
const forkTime = time.Second

// forked says whether p is a child of a Pi that is about to become another
// program.
func (d *discovery) forked(p, parent *process) bool {
	return parent != nil && p.env["PI_SESSION_ID"] == parent.env["PI_SESSION_ID"] && d.at.Sub(p.Started) < forkTime
}

// settled is after how long what a process is, and its environment, are taken
// for final: an exec keeps the identity and changes the rest.
const settled = 10 * time.Second

// look returns what a process shows of itself, nil if it is neither agent's.
func (d *discovery) look(row proc.Process) *process {
	if !mayBePi(row.Comm) {
		return nil
	}
	d.mu.Lock()
	known := d.seen[row.Identity]
	d.mu.Unlock()
	if known == nil || !known.final || known.comm != row.Comm { // the name comes late with a slow start
		before := known
		if known = d.inspect(row); known == nil {
			known = &process{ignore: true}
		}
		known.comm, known.final = row.Comm, d.at.Sub(row.Started) > settled
		known.keep(before)
		d.mu.Lock()
		d.seen[row.Identity] = known
		d.mu.Unlock()
	}
	if known.agent == "" {
		return nil
	}
	p := *known
	p.Process = row
	p.cwd, _ = d.table.CWD(row.Identity)
	if pwd := p.env["PWD"]; filepath.IsAbs(pwd) && pwd != p.cwd && !there(pwd) {
		p.was = filepath.Clean(pwd)
	}
	return &p
}

// keep takes what the command line said before Pi erased it.
func (p *process) keep(before *process) {
	if before == nil || before.agent != p.agent || p.agent != adapters.Pi || len(p.args) > 1 {
		return
	}
	p.self, p.file, p.named = before.self, before.file, before.named
	p.places = before.places
}

// mayBePi: both agents are named pi; Pi sets that name itself, where the system
// has such a thing.
func mayBePi(comm string) bool {
	switch comm {
	case "pi", "pi-rpc", "legacy-pi":
		return true
	}
	return isInterpreter(comm)
}

// isInterpreter knows the names that Node.js and Bun have before Pi sets its own,
// which takes 0.73.1 seconds.
func isInterpreter(comm string) bool {
	switch comm {
	case "node", "bun", "MainThread", "node-MainThread":
		return true
	}
	return false
}

// inspect reads what doesn't change of a process.
func (d *discovery) inspect(row proc.Process) *process {
	exe, err := d.table.Exe(row.Identity)
	if errors.Is(err, proc.ErrGone) || errors.Is(err, fs.ErrPermission) {
		return nil // another user's: its sessions aren't in our folders
	}
	p := &process{env: map[string]string{}}
	p.args, _ = d.table.Args(row.Identity)
	cwd, _ := d.table.CWD(row.Identity)
	if p.agent = whose(row.Comm, exe, cwd, p.args); p.agent == "" {
		return nil
	}
	env, envErr := d.table.Env(row.Identity)
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); slices.Contains(environment, name) {
			p.env[name] = value
		}
	}
	p.setPlaces(envErr)
	if p.agent == adapters.Pi && isInterpreter(row.Comm) { // not erased yet, or by an old version never
		_, flags := scriptOf(p.args, cwd)
		p.readArgs(flags)
	}
	if p.agent == adapters.PiRust {
		p.readArgs(p.args[min(1, len(p.args)):])
		if !p.hasStore() {
			return nil // some other program of that name
		}
	}
	return p
}

// whose says which agent a process is. Pi runs in Node.js or Bun; as a single
// binary it has its package.json beside it.
// Scripts in args are relative to cwd.
func whose(comm, exe, cwd string, args []string) adapters.Name {
	base := strings.TrimSuffix(filepath.Base(exe), ".exe")
	interpreter := base == "node" || base == "bun" || base == "deno" || strings.HasPrefix(base, "node-") || strings.HasPrefix(base, "nodejs")
	if isInterpreter(comm) { // a system without process titles, or one that has just begun
		script, _ := scriptOf(args, cwd)
		if len(args) > 0 && (args[0] == "pi" || args[0] == "pi-rpc") || isPiScript(script) {
			return adapters.Pi
		}
		return ""
	}
	if interpreter || comm != "pi" || exe == "" || besidePackage(exe) {
		return adapters.Pi
	}
	// A script of that name, with a shell for its program, is somebody's wrapper.
	if strings.TrimSuffix(base, " (deleted)") != "pi" && (len(args) == 0 || filepath.Base(args[0]) != "pi") {
		return ""
	}
	return adapters.PiRust
}

// scriptOf finds the script that an interpreter was told to run, and what comes
// after it.
func scriptOf(args []string, cwd string) (script string, flags []string) {
	for i := 1; i < len(args); i++ {
		if strings.HasPrefix(args[i], "-") || args[i] == "run" {
			continue
		}
		script = args[i]
		if !filepath.IsAbs(script) {
			script = filepath.Join(cwd, script)
		}
		return script, args[i+1:]
	}
	return "", nil
}

// isPiScript knows Pi's program by where it is, also through the link that npm
// makes to it. Of a container only the link's name can be seen.
func isPiScript(script string) bool {
	const inside = "/pi-coding-agent/dist/"
	if script == "" {
		return false
	}
	if strings.Contains(filepath.ToSlash(script), inside) {
		return true
	}
	if base := filepath.Base(script); base != "pi" && base != "legacy-pi" {
		return false
	}
	target, err := filepath.EvalSymlinks(script)
	return err == nil && strings.Contains(filepath.ToSlash(target), inside) || errors.Is(err, fs.ErrNotExist)
}

// besidePackage says whether the binary is Pi built with Bun.
func besidePackage(exe string) bool {
	f, _, err := openRegular(filepath.Join(filepath.Dir(exe), "package.json"))
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head)
	return strings.Contains(string(head[:n]), "pi-coding-agent")
}

// setPlaces works out where the process writes its sessions.
func (p *process) setPlaces(err error) {
	home := p.env[homeVariable]
	if err != nil || home == "" {
		return
	}
	agent := filepath.Join(home, ".pi", "agent")
	if dir := expandHome(p.env["PI_CODING_AGENT_DIR"], home); dir != "" {
		agent = dir
		p.named = append(p.named, filepath.Join(agent, "sessions"))
	}
	if _, err := os.Stat(home); err != nil {
		return // of another mount namespace: its names say nothing here
	}
	p.known, p.places = true, append(p.places, realPath(filepath.Join(agent, "sessions")))
	set, _ := readSettings(filepath.Join(agent, "settings.json"))
	for _, dir := range []string{p.env["PI_CODING_AGENT_SESSION_DIR"], p.env["PI_SESSIONS_DIR"]} {
		if dir = expandHome(dir, home); dir != "" {
			p.named = append(p.named, dir)
			p.places = append(p.places, realPath(dir))
		}
	}
	if dir := expandHome(set.SessionDir, home); dir != "" {
		p.places = append(p.places, realPath(dir))
	}
}

// readArgs reads a command line without the program: both agents' are alike.
func (p *process) readArgs(args []string) {
	if p.agent == adapters.PiRust && len(args) > 0 && slices.Contains(notSessions, args[0]) {
		p.ignore = true
	}
	for i, arg := range args {
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		switch arg {
		case "--no-session":
			p.self = true
		case "--session":
			if filepath.IsAbs(value) {
				p.file = realPath(value)
			}
		case "--session-dir":
			if filepath.IsAbs(value) {
				p.named = append(p.named, value)
				p.places = append(p.places, realPath(value))
			}
		}
	}
}

// hasStore says whether one of the folders of a process is there.
func (p *process) hasStore() bool {
	if !p.known {
		return false
	}
	for _, dir := range p.places {
		if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// kid reads whose tool a child is. A child that hasn't become its program yet
// has its parent's environment; one that isn't a tool inherits it.
func (d *discovery) kid(p *process, row proc.Process) kid {
	k := kid{Process: row}
	env, err := d.table.Env(row.Identity)
	if err != nil {
		return k
	}
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, "PI_SESSION_ID="); ok && v != p.env["PI_SESSION_ID"] {
			k.session = v
		}
		if v, ok := strings.CutPrefix(entry, "PI_SESSION_FILE="); ok && v != p.env["PI_SESSION_FILE"] {
			k.file = v
		}
	}
	return k
}

// uses says whether a process may have sessions in a root.
func (p *process) uses(root string) bool {
	return !p.known || slices.Contains(p.places, root)
}
