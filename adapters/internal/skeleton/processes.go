package skeleton

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// Finder finds the live processes of an agent, and the homes that they use.
type Finder struct {
	agentproc.Program // how the processes look
	// Home returns the home that the variables of an environment name. user is the user's home folder, and empty where it is not known.
	Home func(env func(string) string, user string) string
	// Inspect takes what else a process shows. It returns false for one that can have no session. Nil: all that hold a conversation can.
	Inspect func(proc.Details, *Process) bool
	// Nested reports that a child that looks like its parent is a process of its own at once: else it may be about to become a tool.
	Nested bool
}

// Process is a live process of an agent.
type Process struct {
	proc.Process // Started is by the clock of its files
	Seen         agentproc.Seen
	Env          []string
	EnvErr       error // why Env can't be read
	CWD          string
	// Former are the names that CWD had before it was renamed, which the agent goes on to use.
	Former []string
	left   []string // the folders that it may have been in, see FindFormer
	Home   string   // as this machine names it
	Known  bool     // Home exists here
	Named  string   // the session that its command line names
	Mode   string   // of its command line; empty: the settings decide
	// Resumes reports that it continues a session that its command line does not name. Headless reports that it works through one prompt,
	// Hosts that other programs give it its sessions.
	Resumes, Headless, Hosts bool
	Children                 []proc.Process // that are not the agent's own
	SetBack                  bool           // the clock was set back since it started
}

// forkTime is the longest time for which a child may still look like its parent.
const forkTime = time.Second

// HoldsConversation reports whether what a process shows of itself can be read, and is that of one with a conversation.
func (p *Process) HoldsConversation() bool {
	return p.Seen.Kind == agentproc.Conversation && p.Seen.Err == nil && p.EnvErr == nil
}

// Get returns the value of a variable of the process's environment.
func (p *Process) Get(name string) string { return kit.Get(p.Env, name) }

// Process returns the details of a process, and nil if it is none of the agent's that can have a session.
func (f *Finder) Process(table proc.Lister, row proc.Process) *Process {
	seen := f.Identify(table, row)
	if seen.Kind == agentproc.Foreign {
		return nil
	}
	p := &Process{Process: row, Seen: seen}
	p.Started, p.SetBack = agentproc.Started(table, row)
	p.Env, p.EnvErr = table.Env(row.Identity)
	p.CWD, _ = table.CWD(row.Identity)
	p.Former = adapters.FormerFolders(p.Env, p.CWD, p.Started)
	p.Home = f.Home(p.Get, p.Get(kit.Home))
	if f.Inspect == nil && !p.HoldsConversation() || f.Inspect != nil && !f.Inspect(table, p) {
		return nil
	}
	return p
}

// Owns reports whether a process is the agent's own, for adapters.ProcessOwner.
func (f *Finder) Owns(b *kit.Base, row proc.Process) bool {
	p := f.Process(b.Table, row)
	if p == nil || p.Seen.Kind != agentproc.Conversation || p.Seen.Err != nil {
		return false
	}
	parent, err := b.Table.Find(row.PPID)
	return f.Nested || err != nil || b.Now().Sub(row.Started).Abs() >= forkTime || f.Process(b.Table, parent) == nil
}

// processes returns the agent's processes in a process table, in the order of their starts.
func (f *Finder) processes(table proc.Lister, rows []proc.Process, now time.Time) (list []*Process) {
	found := map[int]*Process{}
	for _, row := range rows {
		if p := f.Process(table, row); p != nil {
			found[row.PID] = p
		}
	}
	for _, row := range rows {
		switch p, parent := found[row.PID], found[row.PPID]; {
		case p != nil && (parent == nil || f.Nested || now.Sub(p.Started).Abs() >= forkTime):
			list = append(list, p)
		case p == nil && parent != nil:
			parent.Children = append(parent.Children, row)
		}
	}
	slices.SortFunc(list, func(a, b *Process) int { return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID) })
	return list
}

// List returns the live processes of the agent, in the order of their starts.
func (f *Finder) List(l *Look) []*Process {
	rows, known := l.base.Processes(l.Ctx, l.Report)
	l.Homes.NoTable = !known
	return f.processes(l.base.Table, rows, l.Now)
}

// Find finds the homes to look in, and returns the processes that use one of them, or one that is not known, in the order of their starts. more are further
// folders that may be homes.
func (f *Finder) Find(l *Look, more ...string) []*Process {
	list := f.List(l)
	used := slices.Clone(more)
	for _, p := range list {
		p.Home, p.Known = l.Homes.OfProcess(p.Home)
		if p.Known {
			used = append(used, p.Home)
		}
	}
	l.Homes.Find(l.base, f.Home(l.base.Env, l.base.Home), used, l.Now)
	list = slices.DeleteFunc(list, func(p *Process) bool {
		return p.Known && !slices.Contains(l.Homes.Paths, p.Home) && !l.Homes.Unresponsive(p.Home)
	})
	l.Homes.InUse = len(list) > 0
	l.processes = list
	return list
}

// At reports whether the process works in a folder, as its agent names it.
func (p *Process) At(folder string) bool {
	return folder != "" && (p.CWD == folder || slices.Contains(p.Former, folder))
}

// Folder returns the name that the agent has for the folder of the process, which is not that of now where it was renamed.
func (p *Process) Folder() string {
	if len(p.Former) > 0 {
		return p.Former[len(p.Former)-1] // without symbolic links, as Node.js has it
	}
	return p.CWD
}

// Uses reports whether the process may keep its sessions in a home.
func (p *Process) Uses(home string) bool { return !p.Known || p.Home == home }

// Precedes reports whether something happened after the process began.
func (p *Process) Precedes(at time.Time) bool { return !at.Before(p.Started.Add(-kit.StartSlack)) }

// Row returns the row of the process where it has no session. hidden reports that something was not read, doubt that it may have one of
// several sessions, fresh that it is known to have none.
func (p *Process) Row(l *Look, hidden, fresh, doubt bool) adapters.Session {
	agent := l.base.Name()
	if l.Homes.Unresponsive(p.Home) {
		return adapters.UnresponsiveProcess(agent, p.Process, p.CWD, p.Home)
	}
	out := adapters.ProcessSession(agent, p.Process, p.CWD)
	switch {
	case hidden:
		out.Status, out.Evidence = adapters.Unknown, fmt.Sprintf("process %d may have a session that could not be read", p.PID)
	case fresh:
	case doubt, p.Resumes:
		out.Status, out.Evidence = adapters.Unknown, fmt.Sprintf("process %d has a session of its folder, and it is not known which one", p.PID)
	case p.Headless:
		out.Status, out.Evidence = adapters.Working, fmt.Sprintf("process %d was started for one prompt, which it has not recorded yet", p.PID)
	}
	return out
}
