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
	*skeleton.Process
	holds    []string // ids of the sessions of which it holds a file, see heldName
	has      []string // ids of the sessions that are its own by a file that it holds or locked
	files    bool     // its open files are known
	pids     []int    // its pid, and those in the namespaces below
	parent   string   // id of the session whose tool started it
	sessions int      // that it has
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

// resumes returns the id of the session that the command line names, and whether it continues one at all.
func (p *process) resumes() (id string, is bool) {
	for i, arg := range p.Seen.Line {
		name, value, joined := strings.Cut(arg, "=")
		switch name {
		case "--continue":
			is = true
		case "--resume", "-r", "--session-id":
			if !joined && i+1 < len(p.Seen.Line) {
				value = p.Seen.Line[i+1]
			}
			is = is || name != "--session-id"
			if kit.Is(value) {
				id = strings.ToLower(value)
			}
		}
	}
	return id, is
}

// assign finds the sessions of the processes. A process that holds a file of a session has it. Older versions leave only a
// file with the pid of the process in its name, which can outlive the process: the process must have begun before the file
// was written. A process that continues a session that another one has leaves no trace: its command line names the session.
func (d *discovery) assign() {
	var rest []*process
	for _, p := range d.processes {
		found := false
		for _, root := range d.Homes.Paths {
			for _, id := range p.holds {
				if at := (place{root, id}); p.Uses(root) && kit.MayExist(at.dir()) {
					d.own(at, p)
					found = true
				}
			}
		}
		if !found {
			rest = append(rest, p)
		}
	}
	rest = slices.DeleteFunc(rest, d.assignByLock)
	for _, p := range rest {
		id, _ := p.resumes()
		for _, root := range d.Homes.Paths {
			if at := (place{root, id}); id != "" && p.Uses(root) && kit.MayExist(at.events()) {
				d.owners[at] = append(d.owners[at], p)
			}
		}
	}
}

// own records that a session is a process's own.
func (d *discovery) own(at place, p *process) {
	d.owners[at], p.has = append(d.owners[at], p), kit.AppendNew(p.has, at.id)
}

// assignByLock gives a process the session with a lock of its pid.
func (d *discovery) assignByLock(p *process) (found bool) {
	for _, at := range d.all {
		if !p.Uses(at.root) {
			continue
		}
		for _, pid := range p.pids {
			lock := filepath.Join(at.dir(), "inuse."+strconv.Itoa(pid)+".lock")
			info, err := os.Lstat(lock)
			if errors.Is(err, fs.ErrPermission) {
				d.Report.Problem(adapters.Unreadable(at.dir(), err))
			}
			if err != nil || info.ModTime().Before(p.Started.Add(-kit.StartSlack)) || p.files && kit.MayExist(strings.TrimSuffix(lock, ".lock")+".hold") {
				continue // another process's, which had this pid
			}
			d.own(at, p)
			found = true
		}
	}
	return found
}
