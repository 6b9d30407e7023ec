package kit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/proc"
)

// NodeAgent is an agent of Node.js whose process starts itself again: the inner process works. So are Gemini CLI and what was made from it.
type NodeAgent struct {
	agentproc.Program          // how its processes look
	Inner             string   // the variable that the outer process sets for the inner one
	Serving           []string // sub-commands that host the sessions of other programs
	Continue          []string // options that continue a session without its id, beside --resume
	Home              func(env []string) string
}

// NodeProcess is a live process of such an agent.
type NodeProcess struct {
	proc.Process
	CWD string
	// Former are the names that CWD had before it was renamed, which the agent goes on to use.
	Former []string
	Home   string // as this machine names it
	Known  bool   // Home exists here
	Named  string // the session that its command line names
	Mode   string // of its command line; empty: the settings decide
	// Resumes reports that it continues a session that its command line does not name. Headless reports that it works through one prompt,
	// Hosts that other programs give it its sessions.
	Resumes, Headless, Hosts bool
	Children                 []proc.Process
	SetBack                  bool // the clock was set back since it started
}

const (
	// StartSlack is the precision of the start of a process.
	StartSlack = 20 * time.Millisecond
	// forkTime is the longest time for which a child may still look like its parent.
	forkTime = time.Second
)

// NodeFlags lists the options of both agents with which a process holds no session.
var NodeFlags = []string{"--version", "-v", "--help", "-h", "--list-sessions", "--list-extensions", "-l", "--delete-session"}

// NodeValued lists the options of both agents that take the next argument as their value, NodeLists those that take several (gemini --help of 0.61.0,
// qwen --help of 0.24.4).
var (
	NodeValued = []string{"-m", "--model", "-p", "--prompt", "-i", "--prompt-interactive", "-w", "--worktree", "--approval-mode", "-r", "--resume",
		"--session-file", "--session-id", "-o", "--output-format", "--input-format", "--system-prompt", "--append-system-prompt", "--output-style", "--proxy",
		"--sandbox-image", "--channel", "--mcp-config", "--openai-logging-dir", "--openai-api-key", "--openai-base-url", "--json-fd", "--json-file",
		"--json-schema", "--input-file", "--max-session-turns", "--max-wall-time", "--max-tool-calls", "--max-subagent-depth", "--auth-type"}
	NodeLists = []string{"--policy", "--admin-policy", "--allowed-mcp-server-names", "--allowed-tools", "-e", "--extensions", "--include-directories",
		"--add-dir", "--fallback-model", "--core-tools", "--exclude-tools", "--disabled-slash-commands"}
)

// inspect returns the details of a process, and nil if it is none of the agent's that host sessions.
func (n *NodeAgent) inspect(table proc.Lister, row proc.Process) *NodeProcess {
	seen := n.Identify(table, row)
	if seen.Kind != agentproc.Conversation || seen.Err != nil || seen.Script == "" {
		return nil
	}
	env, err := table.Env(row.Identity)
	if err != nil || Get(env, n.Inner) == "" {
		return nil
	}
	p := &NodeProcess{Process: row, Home: n.Home(env)}
	p.Started, p.SetBack = agentproc.Started(table, row)
	p.CWD, _ = table.CWD(row.Identity)
	p.Former = adapters.FormerFolders(env, p.CWD, row.Started)
	p.readArgs(n, seen.Args)
	return p
}

// readArgs reads the command line after the script.
func (p *NodeProcess) readArgs(n *NodeAgent, args []string) {
	p.Hosts = len(args) > 0 && slices.Contains(n.Serving, args[0])
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			value = args[i+1]
		}
		switch name {
		case "--":
			return
		case "--session-id":
			p.Named = value
		case "--resume", "-r":
			p.Resumes = !Is(value)
			if !p.Resumes {
				p.Named = value
			}
		case "--approval-mode":
			p.Mode = value
		case "--yolo", "-y":
			p.Mode = "yolo"
		case "-p", "--prompt", "-o", "--output-format":
			p.Headless = true
		case "--acp", "--experimental-acp":
			p.Hosts = true
		}
		p.Resumes = p.Resumes || slices.Contains(n.Continue, name)
	}
}

// Option returns the value of an option of a command line; "" if it has none.
func Option(args []string, name string) string {
	for i, arg := range args {
		if value, joined := strings.CutPrefix(arg, name+"="); joined {
			return value
		}
		if arg == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// Owns reports whether a process is the agent's own. A child that has yet to become a tool looks like its parent; it is not owned.
func (n *NodeAgent) Owns(b *Base, row proc.Process) bool {
	if n.inspect(b.Table, row) == nil {
		return false
	}
	parent, err := b.Table.Find(row.PPID)
	return err != nil || b.Now().Sub(row.Started) >= forkTime || n.inspect(b.Table, parent) == nil
}

// processes returns the agent's processes in a process table, in the order of their starts.
func (n *NodeAgent) processes(b *Base, rows []proc.Process, now time.Time) (list []*NodeProcess) {
	found := map[int]*NodeProcess{}
	for _, row := range rows {
		if p := n.inspect(b.Table, row); p != nil {
			found[row.PID] = p
		}
	}
	for _, p := range found {
		if found[p.PPID] == nil || now.Sub(p.Started) >= forkTime {
			list = append(list, p)
		}
	}
	for _, row := range rows {
		if p := found[row.PPID]; p != nil && found[row.PID] == nil {
			p.Children = append(p.Children, row)
		}
	}
	slices.SortFunc(list, func(a, b *NodeProcess) int { return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID) })
	return list
}

// At reports whether the process works in a folder, as its agent names it.
func (p *NodeProcess) At(folder string) bool {
	return folder != "" && (p.CWD == folder || slices.Contains(p.Former, folder))
}

// Folder returns the name that the agent has for the folder of the process, which is not that of now where it was renamed.
func (p *NodeProcess) Folder() string {
	if len(p.Former) > 0 {
		return p.Former[len(p.Former)-1] // without symbolic links, as Node.js has it
	}
	return p.CWD
}

// Uses reports whether the process may keep its sessions in a home.
func (p *NodeProcess) Uses(home string) bool { return !p.Known || p.Home == home }

// Find finds the homes to look in, and returns the processes that use one of them, or one that is not known, in the order of their starts.
func (n *NodeAgent) Find(ctx context.Context, r *Roots, b *Base, own string, now time.Time) []*NodeProcess {
	rows, known := b.Processes(ctx, r.Answer)
	list, used := n.processes(b, rows, now), []string(nil)
	for _, p := range list {
		p.Home, p.Known = r.OfProcess(p.Home)
		if p.Known {
			used = append(used, p.Home)
		}
	}
	r.Find(b, own, used, now)
	list = slices.DeleteFunc(list, func(p *NodeProcess) bool {
		return p.Known && !slices.Contains(r.Paths, p.Home) && !r.Unresponsive(p.Home)
	})
	r.NoTable, r.InUse = !known, len(list) > 0
	return list
}

// Row returns the row of the process where it has no session. hidden reports that something was not read, doubt that it may have one of
// several sessions, fresh that it is known to have none.
func (p *NodeProcess) Row(agent adapters.Name, r *Roots, hidden, fresh, doubt bool) adapters.Session {
	if r.Unresponsive(p.Home) {
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
