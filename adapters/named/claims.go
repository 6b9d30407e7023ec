package named

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/proc"
)

// claims tells which agent a process belongs to. All adapters of the package share it, so that a process belongs to one of them.
type claims struct {
	table proc.Lister
	now   func() time.Time
	users func() []adapters.Unread // the agents of the settings, as they were last read: the same list until they are read again
	// others are the adapters that read their agents: their processes belong to no agent of this package.
	others []adapters.ProcessOwner

	mu     sync.Mutex
	agents []adapters.Unread
	of     []adapters.Unread         // from which agents was made
	known  map[process]adapters.Name // of processes that no longer become another program
}

// process is a process under one name: an exec gives it another one.
type process struct {
	proc.Identity
	comm string
}

const (
	// settled is the age from which a process keeps its program: one that sets up the environment of an agent becomes it within moments.
	settled = 10 * time.Second
	// maxKnown bounds claims.known, which is made again when it is full.
	maxKnown = 10_000
)

// list returns the agents of the settings and those that are built in, in the order in which they claim processes. The caller must not change them.
func (c *claims) list() []adapters.Unread {
	users := c.users()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agents == nil || len(users) != len(c.of) || len(users) > 0 && &users[0] != &c.of[0] { // the settings were read again
		c.of = users
		c.agents = all(users)
		c.known = map[process]adapters.Name{}
		adapters.SetUnread(c.agents)
	}
	return c.agents
}

// find returns the agent with this name; nil: the settings no longer have it.
func (c *claims) find(name adapters.Name) *adapters.Unread {
	agents := c.list()
	i := slices.IndexFunc(agents, func(u adapters.Unread) bool { return u.Name == name })
	if i < 0 {
		return nil
	}
	return &agents[i]
}

// agentOf returns the agent to which a process belongs: the first whose program it runs, unless the process is that of an agent that Rollcall reads. It
// returns "" for a process of no agent.
func (c *claims) agentOf(agents []adapters.Unread, p proc.Process) adapters.Name {
	key := process{p.Identity, p.Comm}
	c.mu.Lock()
	name, known := c.known[key]
	c.mu.Unlock()
	if known {
		return name
	}
	name = c.identify(agents, p)
	if age := c.now().Sub(p.Started); age > settled {
		c.mu.Lock()
		if len(c.known) >= maxKnown {
			clear(c.known)
		}
		c.known[key] = name
		c.mu.Unlock()
	}
	return name
}

func (c *claims) identify(agents []adapters.Unread, p proc.Process) adapters.Name {
	script := ""
	if agentproc.IsInterpreter(p.Comm) || python.MatchString(p.Comm) {
		script = c.script(p)
	}
	for i := range agents {
		u := &agents[i]
		if !c.runs(u, p) && (script == "" || !isScript(u, script)) {
			continue
		}
		if slices.ContainsFunc(c.others, func(o adapters.ProcessOwner) bool { return o.OwnsProcess(p) }) {
			return ""
		}
		return u.Name
	}
	return ""
}

// cutName is the length to which Linux cuts the name of a process.
const cutName = 15

// runs reports whether the name of a process, which is that of the file that was executed, is the agent's. A name that was cut must be that of its program,
// too, unless an interpreter runs it as a script.
func (c *claims) runs(u *adapters.Unread, p proc.Process) bool {
	named := func(name string) bool {
		return slices.ContainsFunc(u.Programs, func(program string) bool { return adapters.IsNamed(name, program) })
	}
	if !named(p.Comm) {
		return false
	}
	exe, err := c.table.Exe(p.Identity)
	program := agentproc.FileName(exe)
	return len(p.Comm) < cutName || err != nil || program == "" || named(program) || adapters.IsShell(program) || adapters.IsNode(program)
}

// python matches the names of processes of Python, and how their command line names a module.
var python = regexp.MustCompile(`^python[0-9.]*$`)

// script returns what an interpreter runs: the path of a script, or the name of a module of Python.
func (c *claims) script(p proc.Process) string {
	line, err := c.table.Args(p.Identity)
	if err != nil || len(line) == 0 {
		return ""
	}
	if !python.MatchString(p.Comm) {
		script, _ := agentproc.Script(line)
		return script
	}
	for i, arg := range line[1:] {
		switch {
		case arg == "-m" && i+2 < len(line):
			return line[i+2]
		case arg == "-c":
			return ""
		case !strings.HasPrefix(arg, "-"):
			return arg
		}
	}
	return ""
}

// isScript reports whether a script is the agent: it has the name of its program, or is in one of its packages. That of an agent of the settings has the name
// of its program, which what pnpm writes to start it, and npm for Windows, does not mention.
func isScript(u *adapters.Unread, script string) bool {
	slashed := filepath.ToSlash(script)
	return slices.Contains(u.Programs, agentproc.FileName(slashed)) || u.Configured && slices.Contains(u.Programs, packageOf(slashed)) ||
		slices.ContainsFunc(u.Packages, func(name string) bool { return strings.Contains(slashed, "/"+name+"/") })
}

// packageOf returns the name of the package of Node.js that a script is in, without its scope; empty: it is in none.
func packageOf(script string) string {
	const folder = "/node_modules/"
	i := strings.LastIndex(script, folder)
	if i < 0 {
		return ""
	}
	name, rest, _ := strings.Cut(script[i+len(folder):], "/")
	if strings.HasPrefix(name, "@") {
		name, _, _ = strings.Cut(rest, "/")
	}
	return name
}

// rows returns which of an agent's processes are rows: of those that run one below the other the outermost, since an agent runs copies of itself for its
// tools, but not an interpreter that only started another program.
func (c *claims) rows(mine, table []proc.Process) []proc.Process {
	byPID := make(map[int]proc.Process, len(table))
	for _, p := range table {
		byPID[p.PID] = p
	}
	dropped := map[proc.Identity]bool{}
	for _, p := range mine {
		outer, below := ancestorIn(p, mine, byPID)
		switch {
		case !below:
		case c.isWrapper(outer, p):
			dropped[outer.Identity] = true
		default:
			dropped[p.Identity] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(mine), func(p proc.Process) bool { return dropped[p.Identity] })
}

// maxAncestors is how far an agent's process above another one is looked for.
const maxAncestors = 32

// ancestorIn returns the nearest process above p that is one of list.
func ancestorIn(p proc.Process, list []proc.Process, byPID map[int]proc.Process) (proc.Process, bool) {
	for range maxAncestors {
		parent, ok := byPID[p.PPID]
		if !ok || parent.PID == p.PID {
			break
		}
		if slices.ContainsFunc(list, func(x proc.Process) bool { return x.Identity == parent.Identity }) {
			return parent, true
		}
		p = parent
	}
	return proc.Process{}, false
}

// isWrapper reports whether outer is a script that started inner, another program.
func (c *claims) isWrapper(outer, inner proc.Process) bool {
	out, err := c.table.Exe(outer.Identity)
	in, err2 := c.table.Exe(inner.Identity)
	name := agentproc.FileName(out)
	return err == nil && err2 == nil && out != in && (adapters.IsShell(name) || adapters.IsNode(name))
}
