package copilot

import (
	"cmp"
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
	"rollcall/proc"
)

// process is a live process of Copilot that can have a session.
type process struct {
	proc.Process
	cwd      string
	args     []string
	home     string   // as its environment names it; empty: not known
	root     string   // home without symbolic links; empty: it does not exist here, as that of a container
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

// program is how the processes of Copilot look (copilot --help of 1.0.102): on Linux they have the name of Node.js's main thread. Npm's script only starts
// the program.
var program = &agentproc.Program{
	Names: []string{"copilot"}, Titles: []string{"MainThread"},
	Commands: []string{"app", "login", "help", "init", "config", "update", "version", "workflow", "sessions", "memories", "plugin", "mcp", "skill",
		"instruction", "lsp", "sandbox", "completion"},
	Flags: []string{"-v", "--version", "-h", "--help"},
}

// isCopilot reports whether a program with that name is Copilot. Another agent for containers of Amazon's has the same command: by its name and its
// place, it is not GitHub's.
func isCopilot(comm, exe string) bool {
	exe = filepath.ToSlash(exe)
	return comm == "MainThread" || runtime.GOOS != "linux" || strings.Contains(exe, "/@github/copilot") || strings.Contains(exe, "github-copilot-cli")
}

// takeCensus finds Copilot's processes: the innermost of those that wait for one another.
func (d *discovery) takeCensus() {
	rows, known := d.Processes(d.ctx, d.answer)
	d.noTable = !known
	native := map[int]proc.Process{}
	for _, row := range rows {
		if d.isNative(row) {
			native[row.PID] = row
		}
	}
	wraps := map[int]bool{}
	for pid, row := range native {
		if _, below := native[row.PPID]; below && d.isInner(row.Identity) {
			wraps[row.PPID] = true
		} else if below { // a copy of its parent that is about to become a tool
			delete(native, pid)
		}
	}
	for pid, row := range native {
		if wraps[pid] {
			continue
		}
		if p := d.inspect(row); p != nil {
			d.processes = append(d.processes, p)
		}
	}
	slices.SortFunc(d.processes, func(a, b *process) int { return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID) })
}

func (a *Adapter) isNative(row proc.Process) bool {
	return a.identify(row).Kind != agentproc.Foreign
}

// identify returns what a process is to Copilot.
func (a *Adapter) identify(row proc.Process) agentproc.Seen {
	seen := program.Identify(a.Table, row)
	if seen.Kind == agentproc.Foreign {
		return seen
	}
	exe, err := a.Table.Exe(row.Identity)
	if err != nil || !isCopilot(row.Comm, exe) {
		return agentproc.Seen{}
	}
	return seen
}

func (a *Adapter) isInner(id proc.Identity) bool {
	env, err := a.Table.Env(id)
	return err == nil && kit.Get(env, inner) != ""
}

// OwnsProcess implements adapters.ProcessOwner. It returns false for a native process below another one that is not marked as
// the one that does the work: it is about to become a tool.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	seen := a.identify(p)
	if seen.Kind != agentproc.Conversation || seen.Err != nil {
		return false
	}
	parent, err := a.Table.Find(p.PPID)
	return err != nil || !a.isNative(parent) || a.isInner(p.Identity)
}

// inspect reads what a process shows of itself. It returns nil for one that hosts no session.
func (d *discovery) inspect(row proc.Process) *process {
	seen := d.identify(row)
	if seen.Kind != agentproc.Conversation {
		return nil
	}
	p := &process{Process: row, pids: []int{row.PID}, args: seen.Line}
	p.Started, _ = agentproc.Started(d.Table, row)
	env, err := d.Table.Env(row.Identity)
	if errors.Is(err, proc.ErrGone) {
		return nil
	}
	if home := kit.Get(env, kit.Home); filepath.IsAbs(home) {
		p.home = filepath.Join(home, folderName)
	}
	if home := kit.Get(env, homeVariable); filepath.IsAbs(home) {
		p.home = filepath.Clean(home)
	}
	if id := kit.Get(env, sessionVariable); kit.Is(id) {
		p.parent = id
	}
	p.cwd, _ = d.Table.CWD(row.Identity)
	if below, err := d.Table.InnerPIDs(row.Identity); err == nil {
		p.pids = append(p.pids, below...)
	}
	files, err := d.Table.OpenFiles(row.Identity)
	p.files = err == nil
	for _, path := range files {
		if m := heldName.FindStringSubmatch(path); m != nil {
			p.holds = kit.AppendNew(p.holds, m[1])
		}
	}
	return p
}

// uses reports whether a process may have sessions in a home.
func (p *process) uses(root string) bool { return p.root == "" || p.root == root }

// resumes returns the id of the session that the command line names, and whether it continues one at all.
func (p *process) resumes() (id string, is bool) {
	for i, arg := range p.args {
		name, value, joined := strings.Cut(arg, "=")
		switch name {
		case "--continue":
			is = true
		case "--resume", "-r", "--session-id":
			if !joined && i+1 < len(p.args) {
				value = p.args[i+1]
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
		for _, root := range d.homes.Paths {
			for _, id := range p.holds {
				if at := (place{root, id}); p.uses(root) && kit.MayExist(at.dir()) {
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
		for _, root := range d.homes.Paths {
			if at := (place{root, id}); id != "" && p.uses(root) && kit.MayExist(at.events()) {
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
		if !p.uses(at.root) {
			continue
		}
		for _, pid := range p.pids {
			lock := filepath.Join(at.dir(), "inuse."+strconv.Itoa(pid)+".lock")
			info, err := os.Lstat(lock)
			if errors.Is(err, fs.ErrPermission) {
				d.answer.Problem(adapters.Unreadable(at.dir(), err))
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
