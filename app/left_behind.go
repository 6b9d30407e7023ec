package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/bounded"
	"rollcall/proc"
)

// LaunchVariable is the variable of the environment with the id of a launch of Rollcall. All processes of the launch have it.
const LaunchVariable = "ROLLCALL_LAUNCH"

// LeftBehind is a process that an agent started, with those below it, which live on after the end of the agent's process.
type LeftBehind struct {
	Agent    adapters.Name
	Session  string         // its id; empty: the agent names only its process
	Tree     []proc.Process // parents before their children
	Commands map[proc.Identity]string
}

// LeftBehind returns what sessions that are over left behind, in the order of their starts, as far as that is certain: the environment of a process names the
// session, the agent's process or the launch from which it comes, that is over, and the parent of the process has ended. What is left out: trees in which a
// process has a terminal (a multiplexer, a shell of the user), belongs to an agent or to Rollcall itself, to another user or to a container, and those of
// which a live process of the agent may be the origin. unknown lists the agents that could not be asked about sessions that are named.
func (c *Core) LeftBehind(ctx context.Context) (left []LeftBehind, unknown []adapters.Name, err error) {
	if c.cfg.Table == nil {
		return nil, nil, fmt.Errorf("this machine's processes can't be read: %w", proc.ErrUnsupported)
	}
	if _, err := c.cfg.Table.Terminal(proc.Self()); errors.Is(err, proc.ErrUnsupported) {
		return nil, nil, fmt.Errorf("what agents left behind is not known on this system: it does not say which processes have a terminal: %w", err)
	}
	f := &leftFinder{core: c, table: c.cfg.Table, sessions: map[SessionKey]*Session{}}
	f.list, err = f.table.List(ctx)
	if err != nil && len(f.list) == 0 {
		return nil, nil, err
	}
	var found []origins
	for _, p := range f.list {
		if o, ok := f.examine(p); ok {
			found = append(found, o)
		}
	}
	if len(found) == 0 {
		return nil, nil, nil
	}
	f.readAgents()
	f.readLaunches()
	if err := f.readSessions(ctx, found); err != nil {
		return nil, nil, err
	}
	for _, o := range found {
		if l, ok := f.judge(&o); ok {
			left = append(left, l)
		}
	}
	slices.SortFunc(left, func(a, b LeftBehind) int { return a.Tree[0].Started.Compare(b.Tree[0].Started) })
	return left, f.unknown, nil
}

// origins is a tree of processes without a parent, with what its environments say about where it comes from.
type origins struct {
	tree     []proc.Process
	sessions []SessionKey          // those of the first process come first; a launch has no agent
	pids     map[adapters.Name]int // the agents' own processes
}

// leftFinder finds what was left behind, from one reading of the process table.
type leftFinder struct {
	core     *Core
	table    proc.Lister
	list     []proc.Process
	agents   []livingAgent
	sessions map[SessionKey]*Session
	unknown  []adapters.Name
}

// livingAgent is a process of an agent.
type livingAgent struct {
	proc.Process
	agent    adapters.Name
	origins  origins // what its environment says: its children may have that from it
	folder   string  // empty: not known
	confined bool    // it has only sessions of its folder
}

// examine returns the tree below a process that may have been left behind.
func (f *leftFinder) examine(p proc.Process) (origins, bool) {
	o := origins{pids: map[adapters.Name]int{}}
	o.add(f.table, p)
	if len(o.sessions) == 0 && len(o.pids) == 0 || !f.isOrphan(p) {
		return o, false
	}
	o.tree = append([]proc.Process{p}, proc.Descendants(f.list, p.Identity)...)
	for _, below := range o.tree {
		if !f.mayBeLeft(below) {
			return o, false
		}
		if below.Identity != p.Identity {
			o.add(f.table, below)
		}
	}
	return o, true
}

// add adds what the environment of a process says.
func (o *origins) add(table proc.Details, p proc.Process) {
	env, err := table.Env(p.Identity)
	if err != nil {
		return
	}
	for _, d := range append(adapters.Described(), adapters.Description{Children: adapters.ChildVariables{Session: LaunchVariable}}) {
		session, process := d.Children.Values(env)
		name := SessionKey{d.Name, session}
		if session != "" && !slices.Contains(o.sessions, name) {
			o.sessions = append(o.sessions, name)
		}
		if pid, err := strconv.Atoi(process); err == nil && o.pids[d.Name] == 0 {
			o.pids[d.Name] = pid
		}
	}
}

// isOrphan reports whether the parent of a process has ended: it is a child of the system's first process, or of the one that manages the user's services. A
// process with another parent was started by that, and only has the environment of an agent, as a window of an editor that one opened.
func (f *leftFinder) isOrphan(p proc.Process) bool {
	if p.PPID <= 1 {
		return true
	}
	parent, err := f.table.Find(p.PPID)
	return err == nil && parent.PPID == 1 && parent.Comm == "systemd"
}

// mayBeLeft reports whether a process is this user's, has no terminal, and is none of an agent or of Rollcall.
func (f *leftFinder) mayBeLeft(p proc.Process) bool {
	if terminal, err := f.table.Terminal(p.Identity); err != nil || terminal != "" {
		return false
	}
	if open, err := f.table.OpenTerminals(p.Identity); len(open) > 0 || err != nil && !errors.Is(err, proc.ErrUnsupported) {
		return false
	}
	if inner, err := f.table.InnerPIDs(p.Identity); len(inner) > 0 || err != nil && !errors.Is(err, proc.ErrUnsupported) {
		return false
	}
	if users, ok := f.table.(interface {
		UID(id proc.Identity) (int, error)
	}); ok {
		if uid, err := users.UID(p.Identity); err != nil || uid != os.Getuid() {
			return false
		}
	}
	return !strings.HasPrefix(p.Comm, "rollcall") && f.agentOf(p) == nil
}

// agentOf returns the agent whose program a process runs; nil: none.
func (f *leftFinder) agentOf(p proc.Process) *source {
	for _, s := range f.core.sources {
		if d, _ := adapters.Describe(s.adapter.Name()); d.Runs != nil && d.Runs(f.table, p) || owns(s.adapter, p) {
			return s
		}
	}
	return nil
}

func owns(a adapters.Adapter, p proc.Process) bool {
	owner, ok := a.(adapters.ProcessOwner)
	mine, err := guarded(func() (bool, error) { return ok && owner.OwnsProcess(p), nil })
	return mine || err != nil
}

// readAgents reads the processes of agents that live.
func (f *leftFinder) readAgents() {
	for _, p := range f.list {
		s := f.agentOf(p)
		if s == nil {
			continue
		}
		a := livingAgent{Process: p, agent: s.adapter.Name(), confined: owns(s.adapter, p), origins: origins{pids: map[adapters.Name]int{}}}
		a.origins.add(f.table, p)
		a.folder, _ = f.table.CWD(p.Identity)
		f.agents = append(f.agents, a)
	}
}

// readLaunches reads Rollcall's own launches.
func (f *leftFinder) readLaunches() {
	if f.core.cfg.Launches == nil {
		return
	}
	for _, s := range f.core.sources {
		rows, of := f.core.cfg.Launches.Complete(s.adapter.Name(), nil)
		for i := range rows {
			if l := of(&rows[i]); l != nil {
				f.sessions[SessionKey{"", l.ID}] = &Session{Session: rows[i], Launch: l}
			}
		}
	}
}

// readSessions asks the agents for the sessions that the environments name, and for those that are live.
func (f *leftFinder) readSessions(ctx context.Context, found []origins) error {
	ids := map[adapters.Name][]string{}
	for _, o := range found {
		for _, name := range o.sessions {
			if name.Agent != "" && !slices.Contains(ids[name.Agent], name.ID) {
				ids[name.Agent] = append(ids[name.Agent], name.ID)
			}
		}
	}
	for agent, wanted := range ids {
		named := f.core.askApart(ctx, agent, All, Once{IDs: wanted})
		for _, snap := range []*Snapshot{named, f.core.askApart(ctx, agent, 0, Once{})} {
			if snap.Incomplete() != nil && !slices.Contains(f.unknown, agent) {
				f.unknown = append(f.unknown, agent)
			}
			for _, s := range snap.Sessions() {
				f.sessions[SessionKey{agent, s.ID}] = &s
				f.unconfine(&s)
			}
		}
	}
	return ctx.Err()
}

// unconfine notes that the process of a session hosts others, of any folder.
func (f *leftFinder) unconfine(s *Session) {
	for i := range f.agents {
		if s.Shared && f.agents[i].Identity == s.Process {
			f.agents[i].confined = false
		}
	}
}

// judge returns a tree as left behind if something that it names is over, and nothing that it names lives, or may.
func (f *leftFinder) judge(o *origins) (LeftBehind, bool) {
	l := LeftBehind{Tree: o.tree, Commands: map[proc.Identity]string{}}
	for agent, pid := range o.pids {
		if f.lives(agent, pid, o.tree[0]) {
			return l, false
		}
		l.Agent = agent
	}
	for _, name := range o.sessions {
		s := f.sessions[name]
		pid := o.pids[name.Agent]
		switch {
		case slices.Contains(f.unknown, name.Agent):
			return l, false
		case s == nil && pid == 0 && name.Agent != "": // it may be in a home that is not known
			return l, false
		case s == nil:
		case s.Live(), name.Agent != "" && f.mayComeFromLiving(name, s, o):
			return l, false
		case l.Session == "":
			l.Agent = s.Agent
			l.Session = s.ID
		}
	}
	if l.Agent == "" {
		return l, false
	}
	for _, p := range o.tree {
		if line, err := f.table.Args(p.Identity); err == nil {
			l.Commands[p.Identity] = present.CommandLine(line)
		}
	}
	return l, true
}

// lives reports whether an agent's process may be the origin of a tree: it has the pid that is named, or it was itself started with that in its environment.
func (f *leftFinder) lives(agent adapters.Name, pid int, root proc.Process) bool {
	return slices.ContainsFunc(f.agents, func(a livingAgent) bool {
		return a.agent == agent && a.Start <= root.Start && (a.PID == pid || a.origins.pids[agent] == pid)
	})
}

// mayComeFromLiving reports whether a live process of the agent may be the origin of a tree although the session that is named is over: a process may take up
// one session after the other. Where the environment names the process itself, that decides.
func (f *leftFinder) mayComeFromLiving(name SessionKey, s *Session, o *origins) bool {
	return slices.ContainsFunc(f.agents, func(a livingAgent) bool {
		switch {
		case a.agent != name.Agent || a.Start > o.tree[0].Start:
			return false
		case slices.Contains(a.origins.sessions, name):
			return true
		case o.pids[name.Agent] != 0:
			return false
		}
		return !a.confined || a.folder == "" || s.CWD == "" || isSameFolder(a.folder, s.CWD)
	})
}

// isSameFolder reports whether two paths lead to the same folder, and true where that can't be known.
func isSameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	if !bounded.Answers(a) || !bounded.Answers(b) {
		return true
	}
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	if err != nil || err2 != nil { // one was renamed or removed
		return true
	}
	return os.SameFile(one, other)
}

// EndLeftBehind ends the processes of a tree that LeftBehind returned, and returns those that it ended: each is asked to end, and killed after a while. It
// looks again first, and returns ErrMoved if they are not left behind any more, or not the same. Processes that were not shown are not ended.
func (c *Core) EndLeftBehind(ctx context.Context, l *LeftBehind) ([]proc.Process, error) {
	h, ok := c.cfg.Table.(signaller)
	if !ok {
		return nil, proc.ErrUnsupported
	}
	now, _, err := c.LeftBehind(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(now, func(n LeftBehind) bool { return n.Tree[0].Identity == l.Tree[0].Identity })
	if i < 0 {
		return nil, fmt.Errorf("process %d %w: it is not left behind any more", l.Tree[0].PID, ErrMoved)
	}
	tree := slices.DeleteFunc(now[i].Tree, func(p proc.Process) bool {
		return !slices.ContainsFunc(l.Tree, func(shown proc.Process) bool { return shown.Identity == p.Identity })
	})
	return endRemaining(ctx, h, tree), nil
}

// Uses returns the memory of processes and the TCP ports on which they accept connections, as far as they can be known.
func (c *Core) Uses(list ...proc.Process) (memory uint64, ports []uint16) {
	table, ok := c.cfg.Table.(interface {
		Ports(id proc.Identity) ([]uint16, error)
	})
	for _, p := range list {
		if l, err := c.cfg.Table.Load(p.Identity); err == nil {
			memory += l.Memory
		}
		if ok {
			open, _ := table.Ports(p.Identity)
			ports = append(ports, open...)
		}
	}
	slices.Sort(ports)
	return memory, slices.Compact(ports) // a port may be shared with a child
}

// CountLeftBehind sets Session.LeftBehind of sessions that are over, where any of this machine is among them. It returns the results of LeftBehind that say
// what is not known, but for a system on which it never is.
func (c *Core) CountLeftBehind(ctx context.Context, sessions []Session) (unknown []adapters.Name, err error) {
	if !slices.ContainsFunc(sessions, func(s Session) bool { return s.mayHaveLeft() }) {
		return nil, nil
	}
	counts, unknown, err := c.CountsLeftBehind(ctx)
	for i := range sessions {
		sessions[i].LeftBehind += counts.Of(&sessions[i])
	}
	return unknown, err
}

// LeftCounts is how many processes sessions left behind.
type LeftCounts map[SessionKey]int

// CountsLeftBehind returns how many processes each session left behind, and the results of LeftBehind that say what is not known, but for a system on which it never is.
func (c *Core) CountsLeftBehind(ctx context.Context) (counts LeftCounts, unknown []adapters.Name, err error) {
	if c.cfg.Table == nil {
		return nil, nil, nil
	}
	left, unknown, err := c.LeftBehind(ctx)
	if errors.Is(err, proc.ErrUnsupported) {
		return nil, nil, nil
	}
	counts = LeftCounts{}
	for _, l := range left {
		counts[SessionKey{l.Agent, l.Session}] += len(l.Tree)
	}
	return counts, unknown, err
}

// Of returns how many processes a session left behind, as far as it is over.
func (l LeftCounts) Of(s *Session) int {
	if !s.mayHaveLeft() {
		return 0
	}
	return l[s.Key()]
}

// mayHaveLeft reports whether the session is over and was on this machine.
func (s *Session) mayHaveLeft() bool { return s.Machine == "" && !s.Live() }
