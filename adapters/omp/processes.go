package omp

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc"
)

// program is how the processes of oh-my-pi look: a script that Bun runs and that names itself, or a program of its own (18.2.3).
var program = &agentproc.Program{
	Names: []string{"omp"}, Packages: []string{"@oh-my-pi/pi-coding-agent"},
	Flags: []string{"--version", "-v", "--help", "-h", "--export"},
	Commands: []string{"__*", "auth-broker", "auth-gateway", "agents", "bench", "browser-relay", "cleanse", "collab", "commit", "completions", "compress",
		"config", "dry-balance", "gc", "grep", "gallery", "git", "grievances", "images", "img", "if-bench", "install", "models", "plugin", "plugins", "ps",
		"say", "share", "setup", "shell", "read", "render", "ssh", "stats", "update", "usage", "tiny-models", "token", "ttsr", "worktree", "wt", "search", "q"},
	Valued: valued,
}

// valued lists the options that are followed by a value.
var valued = []string{"--cwd", "--config", "--add-dir", "--mode", "--fork", "--provider", "--model", "--smol", "--slow", "--plan", "--prewalk-into",
	"--plan-yolo-into", "--max-time", "--service-tier", "--api-key", "--system-prompt", "--append-system-prompt", "--provider-session-id",
	"--prompt-cache-key", "--session-dir", "--models", "--tools", "--thinking", "--hook", "--extension", "-e", "--trusted-extension", "--plugin-dir",
	"--skills", "--approval-mode", "--profile", "--alias", "--resume", "-r", "--session"}

// process is a live process of oh-my-pi.
type process struct {
	proc.Process
	cwd         string
	home, state string // the folders with its sessions, and with the files of terminals
	known       bool   // home exists here
	setBack     bool   // the clock was set back since it started
	version     string // empty: not known

	headless  bool   // it works through one prompt
	noSession bool   // it stores nothing
	resumes   bool   // it continues a session
	named     string // the id or file of the session that its command line names
	mode      string // in which it asks for permissions, by its command line; empty: the settings decide
	settings  bool   // its command line names further settings

	open     []string // the files that it holds open
	terminal string   // the name of the file of its terminal
	names    string   // the session's file that the file of its terminal names; empty: none does
	children []proc.Process
	sessions []*session
}

const (
	maxSmall = 64 << 10    // bytes of a file of one terminal, and of settings
	forkTime = time.Second // the longest time for which a child may still look like its parent
	floor    = 18          // the first major version that was run
)

// placesOf returns the folders with the sessions and with the state that the variables of an environment name. user is the user's home folder, and empty where it is not
// known. profile is the one of a command line.
func placesOf(env func(string) string, user, profile string) (home, state string) {
	if user == "" {
		return "", ""
	}
	root := filepath.Join(user, cmp.Or(env("PI_CONFIG_DIR"), ".omp"))
	profile = cmp.Or(profile, env("OMP_PROFILE"), env("PI_PROFILE"))
	below := ""
	if profile != "" && profile != "default" {
		below = filepath.Join("profiles", profile)
	}
	home = filepath.Join(root, below, "agent")
	if dir := env(homeVariable); below == "" && dir != "" && filepath.Clean(dir) != home {
		return dir, dir
	}
	place := func(variable string) string {
		if dir := env(variable); dir != "" && bounded.Answers(dir) && kit.MayExist(filepath.Join(dir, "omp", below)) {
			return filepath.Join(dir, "omp", below)
		}
		return home
	}
	return place("XDG_DATA_HOME"), place("XDG_STATE_HOME")
}

// inspect returns the details of a process, and nil if it is none of the agent's with a conversation.
func (a *Adapter) inspect(row proc.Process) *process {
	seen := program.Identify(a.Table, row)
	env, err := a.Table.Env(row.Identity)
	if seen.Kind != agentproc.Conversation || seen.Err != nil || err != nil {
		return nil
	}
	p := &process{Process: row}
	p.Started, p.setBack = agentproc.Started(a.Table, row)
	p.cwd, _ = a.Table.CWD(row.Identity)
	profile := p.readArgs(seen.Args)
	p.home, p.state = placesOf(func(name string) string { return kit.Get(env, name) }, kit.Get(env, kit.Home), profile)
	if bounded.Answers(seen.Script) {
		manifest, _, _ := agentfile.ReadSmall(filepath.Join(agentproc.RealScript(seen.Script, p.cwd), "../../package.json"), maxSmall)
		p.version = kit.Short(agentfile.Get(manifest, "version")) // a program of its own has none
	}
	return p
}

// readArgs reads the arguments after the program, and returns the profile that they name.
func (p *process) readArgs(args []string) (profile string) {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(names, strings.SplitN(arg, "=", 2)[0]) })
	}
	mode := kit.Option(args, "--mode")
	p.headless = has("-p", "--print") || mode == "json" || mode == "text"
	p.noSession, p.settings = has("--no-session"), has("--config")
	p.resumes = has("--resume", "-r", "--session", "--continue", "-c", "--fork")
	p.named = cmp.Or(kit.Option(args, "--resume"), kit.Option(args, "-r"), kit.Option(args, "--session"))
	if strings.HasPrefix(p.named, "-") { // another option
		p.named = ""
	}
	p.mode = kit.Option(args, "--approval-mode")
	if has("--yolo", "--auto-approve") {
		p.mode = modeYolo
	}
	return kit.Option(args, "--profile")
}

// OwnsProcess implements adapters.ProcessOwner. A child that has yet to become a tool looks like its parent; it is not owned.
func (a *Adapter) OwnsProcess(row proc.Process) bool {
	if a.inspect(row) == nil {
		return false
	}
	parent, err := a.Table.Find(row.PPID)
	return err != nil || a.Now().Sub(row.Started) >= forkTime || a.inspect(parent) == nil
}

// findProcesses finds the agent's processes in a process table, in the order of their starts.
func (d *discovery) findProcesses(rows []proc.Process) {
	found := map[int]*process{}
	for _, row := range rows {
		if p := d.inspect(row); p != nil {
			found[row.PID] = p
		}
	}
	for _, row := range rows {
		parent, p := found[row.PPID], found[row.PID]
		switch {
		case p != nil && (parent == nil || d.now.Sub(p.Started) >= forkTime):
			d.processes = append(d.processes, p)
		case p == nil && parent != nil:
			parent.children = append(parent.children, row)
		}
	}
	slices.SortFunc(d.processes, func(a, b *process) int { return cmp.Or(a.Started.Compare(b.Started), a.PID-b.PID) })
}

// readTerminal reads what shows the sessions of a process: the files that it has open, and the file of its terminal, which it writes when it starts, and when
// it goes on with another session (18.2.3). A file that is older than the process is that of another one.
func (d *discovery) readTerminal(p *process) {
	files, _ := d.Table.OpenFiles(p.Identity)
	for _, path := range files {
		if strings.HasSuffix(path, ".jsonl") {
			p.open = append(p.open, agentproc.RealPath(path))
		}
	}
	p.state, _ = d.roots.OfProcess(p.state)
	terminals, _ := d.Table.OpenTerminals(p.Identity)
	if own, _ := d.Table.Terminal(p.Identity); own != "" {
		terminals = []string{own}
	}
	for _, tty := range terminals {
		name := strings.ReplaceAll(strings.TrimPrefix(tty, "/dev/"), "/", "-")
		data, info, err := agentfile.ReadSmall(filepath.Join(p.state, "terminal-sessions", name), maxSmall)
		lines := strings.Split(string(data), "\n") // the folder, the file of the session, and more
		if err == nil && len(lines) > 1 && strings.HasSuffix(lines[1], ".jsonl") && (p.setBack || !info.ModTime().Before(p.Started.Add(-kit.StartSlack))) {
			p.names, p.terminal = lines[1], name
		}
	}
}

// uses reports whether the process may keep its sessions in a home.
func (p *process) uses(home string) bool { return !p.known || p.home == home }

// isNamed reports whether the file of the terminal of a process names a file. The name has the session's id; its folder has other names in a container.
func (p *process) isNamed(f *file) bool {
	return p.names != "" && filepath.Base(f.Path) == filepath.Base(p.names)
}

// claims reports whether something names a file as one of a session of the process.
func (p *process) claims(f *file) bool {
	return p.isNamed(f) || slices.Contains(p.open, f.Path) || p.named != "" && strings.Contains(f.Path, p.named)
}

// isBelowFloor reports whether a version is known to be older than floor.
func isBelowFloor(version string) bool {
	n, err := strconv.Atoi(strings.SplitN(version, ".", 2)[0])
	return err == nil && n < floor
}

const modeYolo = "yolo"

// asks reports whether a process may ask for permissions: a run for one prompt does not, and the mode yolo, which is the default, does so only for tools that
// the settings name (18.2.3). What is not known may ask.
func (d *discovery) asks(p *process) bool {
	if p.headless {
		return false
	}
	yolo := p.mode == modeYolo
	return p.settings || p.mode != "" && !yolo || slices.ContainsFunc([]string{p.home, filepath.Join(p.cwd, ".omp")}, func(dir string) bool {
		return mayAsk(filepath.Join(dir, "config.yml"), yolo) || mayAsk(filepath.Join(dir, "config.yaml"), yolo)
	})
}

// mayAsk reports whether a file of settings may have the agent ask for permissions. yolo reports that the mode is known not to.
func mayAsk(path string, yolo bool) bool {
	if !bounded.Answers(path) {
		return true
	}
	data, _, err := agentfile.ReadSmall(path, maxSmall)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	var set struct {
		Tools struct {
			Mode     string         `yaml:"approvalMode"`
			Policies map[string]any `yaml:"approval"`
		} `yaml:"tools"`
	}
	err = errors.Join(err, yaml.Unmarshal(data, &set))
	return err != nil || !yolo && cmp.Or(set.Tools.Mode, modeYolo) != modeYolo || len(set.Tools.Policies) > 0
}
