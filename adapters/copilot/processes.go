package copilot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
	"rollcall/proc"
)

// process is a live process of Copilot that can have a session.
type process struct {
	*skeleton.Process          // Resumes: it continues a session, which Named may be
	holds             []string // ids of the sessions of which it holds a file, see heldName
	has               []string // ids of the sessions that are its own by a file that it holds or locked
	files             bool     // its open files are known
	pids              []int    // its pid, and those in the namespaces below
	parent            string   // id of the session whose tool started it
	sessions          int      // that it has
}

// heldName matches the file that the process of a session has open and locked (1.0.102).
var heldName = regexp.MustCompile(`[/\\]session-state[/\\]([0-9a-f-]{36})[/\\]inuse\.[0-9]+\.hold$`)

// inner is the variable that a native Copilot sets for the copy of itself that does the work (up to 1.0.60).
const inner = "COPILOT_RUN_APP"

// sessionVariable is set for what the tools of a session run (1.0.34, 1.0.102), and not for servers.
const sessionVariable = "COPILOT_AGENT_SESSION_ID"

// finder finds the processes of Copilot: the innermost of those that wait for one another (copilot --help of 1.0.102): on Linux they have the name of Node.js's main thread. Npm's script only starts
// the program.
var finder = &skeleton.Finder{Nested: true, Inspect: isCopilot, Home: homeOf, Program: agentproc.Program{
	Names: []string{"copilot"}, Titles: []string{"MainThread"},
	Commands: []string{"app", "login", "help", "init", "config", "update", "version", "workflow", "sessions", "memories", "plugin", "mcp", "skill",
		"instruction", "lsp", "sandbox", "completion"},
	Flags: []string{"-v", "--version", "-h", "--help"},
}}

// isCopilot reports whether a program with that name is Copilot. Another agent for containers of Amazon's has the same command: by its name and its
// place, it is not GitHub's.
func isCopilot(table proc.Details, p *skeleton.Process) bool {
	exe, err := table.Exe(p.Identity)
	exe = filepath.ToSlash(exe)
	return err == nil && (p.Comm == "MainThread" || runtime.GOOS != "linux" || strings.Contains(exe, "/@github/copilot") || strings.Contains(exe, "github-copilot-cli"))
}

// takeCensus finds Copilot's processes: the innermost of those that wait for one another. One below another that is not marked is a copy of its parent that is
// about to become a tool.
func (d *discovery) takeCensus() {
	found := finder.Find(d.Look)
	native, waits := map[int]bool{}, map[int]bool{}
	for _, p := range found {
		native[p.PID] = true
		if p.Get(inner) != "" {
			waits[p.PPID] = true
		}
	}
	for _, p := range found {
		isCopy := native[p.PPID] && p.Get(inner) == ""
		if !isCopy && !waits[p.PID] && p.Seen.Kind == agentproc.Conversation && !errors.Is(p.EnvErr, proc.ErrGone) {
			d.processes = append(d.processes, d.inspect(p))
		}
	}
	d.Homes.InUse = len(d.processes) > 0
}

// OwnsProcess implements adapters.ProcessOwner. It returns false for a native process below another one that is not marked as
// the one that does the work: it is about to become a tool.
func (a *Adapter) OwnsProcess(row proc.Process) bool {
	p := finder.Process(a.Table, row)
	if p == nil || p.Seen.Kind != agentproc.Conversation || p.Seen.Err != nil {
		return false
	}
	parent, err := a.Table.Find(row.PPID)
	return err != nil || finder.Process(a.Table, parent) == nil || p.Get(inner) != ""
}

// inspect takes what the files that a process has open show.
func (d *discovery) inspect(of *skeleton.Process) *process {
	p := &process{Process: of, pids: []int{of.PID}}
	p.readArgs()
	if id := p.Get(sessionVariable); kit.Is(id) {
		p.parent = id
	}
	if below, err := d.Table.InnerPIDs(p.Identity); err == nil {
		p.pids = append(p.pids, below...)
	}
	files, err := d.Table.OpenFiles(p.Identity)
	p.files = err == nil
	for _, path := range files {
		if m := heldName.FindStringSubmatch(path); m != nil {
			p.holds = kit.AppendNew(p.holds, m[1])
		}
	}
	return p
}

// readArgs takes the id of the session that the command line names, and whether it continues one at all.
func (p *process) readArgs() {
	for i, arg := range p.Seen.Line {
		name, value, joined := strings.Cut(arg, "=")
		switch name {
		case "--continue":
			p.Resumes = true
		case "--resume", "-r", "--session-id":
			if !joined && i+1 < len(p.Seen.Line) {
				value = p.Seen.Line[i+1]
			}
			p.Resumes = p.Resumes || name != "--session-id"
			if kit.Is(value) {
				p.Named = strings.ToLower(value)
			}
		}
	}
}

// evidence is one kind of what shows which process has a session.
type evidence = skeleton.Evidence[*process, place]

// assign finds the sessions of the processes. A process that holds a file of a session has it. Older versions leave only a
// file with the pid of the process in its name. A process that continues a session that another one has leaves no trace: its command
// line names the session.
func (d *discovery) assign() {
	for _, p := range d.processes {
		for _, root := range d.Homes.Paths {
			for _, id := range append(slices.Clip(p.holds), p.Named) {
				if at := (place{root, id}); id != "" && !slices.Contains(d.all, at) { // the folder can't be listed, or not in time
					d.all = append(d.all, at)
				}
			}
		}
	}
	skeleton.Match(d.processes, d.all, func(p *process, at place) bool { return p.Uses(at.root) }, d.own,
		evidence{Rank: skeleton.Holds, Shows: func(p *process, at place) string {
			return kit.If(slices.Contains(p.holds, at.id) && kit.MayExist(at.dir()), "it holds the session's file open")
		}},
		evidence{Rank: skeleton.Registered, Shows: func(p *process, at place) string {
			return kit.If(len(p.holds) == 0 && p.Uses(at.root) && d.locks(p, at), "the session has its lock")
		}},
		evidence{Rank: skeleton.Named, Shows: func(p *process, at place) string {
			return kit.If(len(p.has) == 0 && p.Named == at.id && kit.MayExist(at.events()), named)
		}})
}

// named is how a session is known by a command line, by which several processes can have one.
const named = "named by its command line"

// own records that a process has a session.
func (d *discovery) own(p *process, at place, how string) {
	d.owners[at] = append(d.owners[at], p)
	if how != named {
		p.has = kit.AppendNew(p.has, at.id)
	}
}

// locks reports whether a session has a lock with a pid of the process. It can outlive the process: the process must have begun before the file was written.
func (d *discovery) locks(p *process, at place) bool {
	for _, pid := range p.pids {
		lock := filepath.Join(at.dir(), "inuse."+strconv.Itoa(pid)+".lock")
		info, err := os.Lstat(lock)
		if errors.Is(err, fs.ErrPermission) {
			d.Report.Problem(adapters.Unreadable(at.dir(), err))
		}
		if err != nil || info.ModTime().Before(p.Started.Add(-kit.StartSlack)) || p.files && kit.MayExist(strings.TrimSuffix(lock, ".lock")+".hold") {
			continue // another process's, which had this pid
		}
		return true
	}
	return false
}
