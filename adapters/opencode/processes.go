package opencode

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/skeleton"
	"rollcall/proc"
)

// role is the kind of host that a process of OpenCode is.
type role int

const (
	terminal role = iota // the terminal interface
	oneShot              // opencode run
	server               // serve, web, acp: any number of sessions, in any folder
	// A terminal interface and a run of OpenCode 2 are clients of a server, and have no session.
)

// host is a live process that runs sessions.
type host struct {
	skeleton.Process // its Home is that of its user
	product          *Product
	role             role
	command          string // the sub-command; "": the terminal interface
	args             []string
	fork             bool              // --fork: it continues a copy of the session
	resume           string            // -s ID
	latest           bool              // -c: it resumed the folder's latest session
	prompt           string            // the prompt in the arguments of run, or --prompt
	port             int               // --port; 0: none was named
	listen           bool              // it has an HTTP server
	service          bool              // it is the background service of OpenCode 2, which registers itself
	name             string            // --hostname
	data             string            // XDG_DATA_HOME
	state            string            // XDG_STATE_HOME
	db               string            // OPENCODE_DB
	files            []string          // that it has open, where these can be seen
	removed          map[string]string // see proc.Details.RemovedFiles
	denied           bool              // its environment and its folder may not be read
	unresponsive     string            // the folder that it uses, where the file system does not answer
	filesHidden      bool              // files could not be read
	knownHome        bool              // its environment or its files name a data folder that exists here
	// began is when the process began by the clock that its log has, see findWritten.
	began time.Time
	// old reports that it is of 1.15 or earlier: each process of those writes a log of its own.
	old bool
}

// census holds the processes of OpenCode that one reading of the process table shows.
type census struct {
	hosts []*host
	rows  []proc.Process // all processes
}

// takeCensus reads the process table.
func (a *Adapter) takeCensus(ctx context.Context) (census, error) {
	processes, err := a.Table.List(ctx)
	return a.census(processes, a.Now()), err
}

// census finds the processes of OpenCode in a process table.
func (a *Adapter) census(processes []proc.Process, now time.Time) census {
	c, named := census{rows: processes}, map[int]proc.Process{}
	for _, p := range processes {
		if a.product.runs(p.Comm) {
			named[p.PID] = p
		}
	}
	for _, p := range named {
		h := a.inspect(p)
		if h == nil {
			continue
		}
		if parent, ok := named[p.PPID]; ok && isOwnTool(a.Table, h, parent, now) {
			continue
		}
		c.hosts = append(c.hosts, h)
	}
	slices.SortFunc(c.hosts, func(a, b *host) int { return cmp.Or(cmp.Compare(a.Start, b.Start), a.PID-b.PID) })
	return c
}

// execTime is the time within which a child of OpenCode has become another program.
const execTime = 500 * time.Millisecond

// isOwnTool reports whether a child of OpenCode is a tool of its parent, and not a
// separate agent. No OpenCode starts a terminal interface, and a child that has not
// become another program yet has its parent's name, command line and open files.
func isOwnTool(table proc.Lister, h *host, parent proc.Process, now time.Time) bool {
	if age := now.Sub(h.Started); h.role == terminal || age < execTime && age > -time.Minute {
		return true
	}
	args, err := table.Args(parent.Identity)
	return err == nil && slices.Equal(args, h.args)
}

// OwnsProcess implements adapters.ProcessOwner: the native program, as a terminal
// interface, as `opencode run` and as a server. The Node.js script that starts versions
// up to 1.14, and processes of OpenCode that are its own tools, are not owned.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	h := a.identify(p)
	if h == nil || h.denied || len(h.args) == 0 {
		return false
	}
	parent, err := a.Table.Find(p.PPID)
	return err != nil || !a.product.runs(parent.Comm) || !isOwnTool(a.Table, h, parent, a.Now())
}

// inspect reads a process and returns it as a host, with its open files. It returns nil for a process that runs no sessions or
// has ended.
func (a *Adapter) inspect(p proc.Process) *host {
	table := a.Table
	h := a.identify(p)
	if h == nil {
		return nil
	}
	var err error
	h.files, err = table.OpenFiles(p.Identity)
	if errors.Is(err, proc.ErrGone) || h.denied && errors.Is(err, fs.ErrPermission) {
		return nil // ended, or of another user, whose store is separate
	}
	h.filesHidden = err != nil
	h.removed, _ = table.RemovedFiles(p.Identity)
	h.old = h.keepsOwnLog()
	if still, err := table.Find(p.PID); err == nil && still.Comm != p.Comm {
		return nil // it is another program by now
	}
	return h
}

// keepsOwnLog reports whether a process has a log of its own open, which may have been removed, and
// not the log that all processes share.
func (h *host) keepsOwnLog() bool {
	own := false
	for _, f := range slices.AppendSeq(slices.Clone(h.files), maps.Keys(h.removed)) {
		if filepath.Base(filepath.Dir(f)) != "log" {
			continue
		}
		if filepath.Base(f) == sharedName {
			return false
		}
		_, err := time.Parse("2006-01-02T150405.log", filepath.Base(f))
		own = own || err == nil
	}
	return own
}

// finder returns how the processes of the agent are read.
func (p *Product) finder() *skeleton.Finder {
	return &skeleton.Finder{Program: *p.program(), Home: func(_ func(string) string, user string) string { return user },
		Inspect: func(_ proc.Details, p *skeleton.Process) bool {
			isGone := errors.Is(p.Seen.Err, proc.ErrGone) || errors.Is(p.EnvErr, proc.ErrGone)
			isBun := p.Get("BUN_BE_BUN") == "1" // as Bun, the binary runs language servers and installs plug-ins
			return p.Seen.Kind == agentproc.Conversation && !isGone && !isBun
		}}
}

// identify reads the role of a process from its command line, environment and folder. It
// returns nil for a process that runs no sessions or has ended.
func (a *Adapter) identify(p proc.Process) *host {
	found := a.product.finder().Process(a.Table, p)
	if found == nil {
		return nil
	}
	h := &host{Process: *found, product: a.product, args: found.Seen.Line, began: found.Started}
	if h.Seen.Err == nil && len(h.args) > 0 && !h.readArgs() {
		return nil
	}
	h.data = h.Get("XDG_DATA_HOME")
	h.db = h.Get(a.product.Variable + "DB")
	h.state = h.Get("XDG_STATE_HOME")
	h.denied = errors.Is(h.EnvErr, fs.ErrPermission) && h.CWD == ""
	return h
}

// notHosts lists the sub-commands that run no session in their own process: `add`,
// `install` and `pm` are Bun's, which 1.1.65 runs without BUN_BE_BUN.
var notHosts = []string{"attach", "completion", "mcp", "debug", "providers", "auth", "agent", "upgrade", "uninstall", "models", "stats", "export", "import",
	"session", "plugin", "plug", "db", "add", "install", "pm", "x", "account", "console", "login", "logout", "generate", "tui-thread-attach"}

// valued lists the options that take the next argument as their value. They are
// needed to find the first argument that is not an option.
var valued = []string{"-m", "--model", "-s", "--session", "--prompt", "--agent", "--port", "--hostname", "--mdns-domain", "--cors", "--log-level", "--title",
	"--attach", "--format", "-f", "--file", "--variant", "--command", "--dir", "--cwd", "-p", "--password", "-u", "--username"}

// readArgs reports whether the command line is that of a host.
func (h *host) readArgs() bool {
	var plain []string
	attached := false
	for i := 1; i < len(h.args); i++ {
		arg := h.args[i]
		if arg == "--" {
			plain = append(plain, h.args[i+1:]...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			plain = append(plain, arg)
			continue
		}
		name, value, inline := strings.Cut(arg, "=")
		if !inline && slices.Contains(valued, name) && i+1 < len(h.args) {
			i++
			value = h.args[i]
		}
		attached = attached || name == "--attach"
		h.option(name, value)
	}
	if len(plain) > 0 {
		h.command = plain[0]
	}
	switch h.command {
	case "run":
		h.role = oneShot
		h.prompt = runPrompt(plain[1:])
		return !attached
	case "serve", "web":
		h.role, h.listen = server, true
	case "acp":
		h.role = server
	}
	return true
}

func (h *host) option(name, value string) {
	switch name {
	case "-s", "--session":
		if isSession(value) {
			h.resume = value
		}
	case "-c", "--continue":
		h.latest = value != "false"
	case "--fork":
		h.fork = value != "false"
	case "--prompt":
		h.prompt = value
	case "--port":
		h.port, _ = strconv.Atoi(value)
		h.listen = true
	case "--hostname":
		h.name, h.listen = value, true
	case "--mdns":
		h.listen = true
	case "--service", "--register":
		h.service = true
	}
}

// isSession reports whether a word has the form of a session's id.
func isSession(id string) bool {
	rest, ok := strings.CutPrefix(id, "ses_")
	if !ok || len(rest) < 8 || len(rest) > 64 {
		return false
	}
	return !strings.ContainsFunc(rest, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// at reports whether the host works in a folder.
func (h *host) at(folder string) bool { return h.At(filepath.Clean(folder)) }

// mayHaveBegunIn reports whether the host works in a folder, or may have begun in it before it was renamed.
func (h *host) mayHaveBegunIn(folder string) bool {
	return h.at(folder) || h.CWD != "" && h.CanHaveLeft(folder)
}

// hasChild reports whether a process other than OpenCode runs below the host.
func (c census) hasChild(h *host) bool {
	return slices.ContainsFunc(proc.Descendants(c.rows, h.Identity), func(p proc.Process) bool { return !h.product.runs(p.Comm) })
}
