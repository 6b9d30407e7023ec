package gemini

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc"
)

// process is a live process of Gemini CLI: the inner one of two, which works.
type process struct {
	proc.Process
	cwd   string
	home  string // its .gemini, as this machine names it
	known bool   // home exists here
	named string // the session that its command line names
	// resumes reports that it continues a session that its command line does not name. headless reports that it
	// works through one prompt, hosts that another program gives it its sessions over ACP.
	resumes, headless, hosts bool
	children                 []proc.Process

	session *session
	left    bool   // its user left its session for a new one, which has no file yet
	logID   string // the session under which what is typed in it is logged
}

// inner is the variable that the outer process sets for the inner one (0.29.0, 0.61.0).
const inner = "GEMINI_CLI_NO_RELAUNCH"

// forkTime is the longest time for which a child may still look like its parent.
const forkTime = time.Second

// isProgram reports whether a script is Gemini CLI's, also through the link that npm makes. In a container only the
// link's name can be seen.
func isProgram(script, cwd string) bool {
	const place = "/gemini-cli/"
	if strings.Contains(filepath.ToSlash(script), place) {
		return true
	}
	if filepath.Base(script) != "gemini" {
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

// inspect returns the details of a process, and nil if it is none of Gemini CLI's that host sessions.
func (a *Adapter) inspect(row proc.Process) *process {
	if !agentproc.IsInterpreter(row.Comm) {
		return nil
	}
	line, err := a.table.Args(row.Identity)
	if err != nil {
		return nil
	}
	script, args := agentproc.Script(line)
	if script == "" || filepath.Base(script) != "gemini" && !strings.Contains(filepath.ToSlash(script), "gemini-cli") {
		return nil
	}
	env, err := a.table.Env(row.Identity)
	if err != nil || kit.Get(env, inner) == "" {
		return nil
	}
	p := &process{Process: row}
	p.cwd, _ = a.table.CWD(row.Identity)
	if !isProgram(script, p.cwd) || !p.readArgs(args) {
		return nil
	}
	if p.home = cmp.Or(kit.Get(env, homeVariable), kit.Get(env, kit.Home)); p.home != "" {
		p.home = filepath.Join(p.home, folderName)
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
		case "mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma":
			if i == 0 {
				return false
			}
		case "--version", "-v", "--help", "-h", "--list-sessions", "--list-extensions", "-l", "--delete-session":
			return false
		case "--session-id":
			p.named = value
		case "--resume", "-r":
			if p.resumes = !kit.Is(value); !p.resumes {
				p.named = value
			}
		case "-p", "--prompt", "-o", "--output-format":
			p.headless = true
		case "--acp", "--experimental-acp":
			p.hosts = true
		}
	}
	return true
}

// OwnsProcess implements adapters.ProcessOwner. A child that has yet to become a tool looks like its parent; it is not owned.
func (a *Adapter) OwnsProcess(row proc.Process) bool {
	p := a.inspect(row)
	if p == nil {
		return false
	}
	parent, err := a.table.Find(row.PPID)
	return err != nil || a.now().Sub(row.Started) >= forkTime || a.inspect(parent) == nil
}

// readProcesses finds the processes of Gemini CLI.
func (d *discovery) readProcesses() {
	rows, err := d.adapter.table.List(d.ctx)
	if err != nil {
		d.answer.Problem(&adapters.Problem{Kind: adapters.ErrUnreadable, Path: "process table", Err: err,
			Fix: "without it, running sessions can't be recognised"})
	}
	d.noTable = err != nil && len(rows) == 0
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
			if row.PPID == p.PID && found[row.PID] == nil {
				p.children = append(p.children, row)
			}
		}
		d.processes = append(d.processes, p)
	}
	slices.SortFunc(d.processes, func(a, b *process) int { return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID) })
}

// tool returns the child that a call of p's session runs and that began after a time. Servers that were started
// with Gemini CLI are older.
func (d *discovery) tool(p *process, since time.Time) (proc.Process, bool) {
	for _, c := range p.children {
		if c.Started.Before(since) {
			continue
		}
		if env, err := d.adapter.table.Env(c.Identity); err == nil && kit.Get(env, "GEMINI_CLI") != "" {
			return c, true
		}
	}
	return proc.Process{}, false
}

// find sets whether the process's home exists here. A process of another mount namespace has paths without a meaning here.
func (p *process) find() (unresponsive bool) {
	switch {
	case p.home == "":
		return false
	case !bounded.Answers(p.home):
		return true
	}
	_, err := os.Stat(filepath.Dir(p.home))
	p.known = err == nil || !errors.Is(err, os.ErrNotExist)
	if p.known {
		p.home = agentproc.RealPath(p.home)
	}
	return false
}
