package omp

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
	"rollcall/bounded"
	"rollcall/proc"
)

// finder finds the processes of oh-my-pi: a script that Bun runs and that names itself, or a program of its own (18.2.3).
var finder = &skeleton.Finder{Inspect: inspect, Home: homeOf, Program: agentproc.Program{
	Names: []string{"omp"}, Packages: []string{"@oh-my-pi/pi-coding-agent"},
	Flags: []string{"--version", "-v", "--help", "-h", "--export"},
	Commands: []string{"__*", "auth-broker", "auth-gateway", "agents", "bench", "browser-relay", "cleanse", "collab", "commit", "completions", "compress",
		"config", "dry-balance", "gc", "grep", "gallery", "git", "grievances", "images", "img", "if-bench", "install", "models", "plugin", "plugins", "ps",
		"say", "share", "setup", "shell", "read", "render", "ssh", "stats", "update", "usage", "tiny-models", "token", "ttsr", "worktree", "wt", "search", "q"},
	Valued: valued,
}}

// valued lists the options that are followed by a value.
var valued = []string{"--cwd", "--config", "--add-dir", "--mode", "--fork", "--provider", "--model", "--smol", "--slow", "--plan", "--prewalk-into",
	"--plan-yolo-into", "--max-time", "--service-tier", "--api-key", "--system-prompt", "--append-system-prompt", "--provider-session-id",
	"--prompt-cache-key", "--session-dir", "--models", "--tools", "--thinking", "--hook", "--extension", "-e", "--trusted-extension", "--plugin-dir",
	"--skills", "--approval-mode", "--profile", "--alias", "--resume", "-r", "--session"}

// process is a live process of oh-my-pi.
type process struct {
	*skeleton.Process        // Mode is that in which it asks for permissions
	state             string // the folder with the files of terminals
	version           string // empty: not known

	noSession bool // it stores nothing
	settings  bool // its command line names further settings

	open     []string // the files that it holds open
	terminal string   // the name of the file of its terminal
	names    string   // the session's file that the file of its terminal names; empty: none does
	sessions []*session
}

const (
	maxSmall = 64 << 10 // bytes of a file of one terminal, and of settings
	floor    = 18       // the first major version that was run
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

// homeOf returns the folder with the sessions that the variables of an environment name.
func homeOf(env func(string) string, user string) string {
	home, _ := placesOf(env, user, "")
	return home
}

// inspect takes the home of a process, which its command line can name as well.
func inspect(_ proc.Details, p *skeleton.Process) bool {
	p.Home, _ = placesOf(p.Get, p.Get(kit.Home), kit.Option(options(p), "--profile"))
	return p.HoldsConversation()
}

// options returns the arguments of a process that can be options.
func options(p *skeleton.Process) []string {
	args := p.Seen.Args
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return args
}

// inspect adds to a process what its command line, the files that it has open and the file of its terminal say.
func (d *discovery) inspect(of *skeleton.Process) *process {
	p := &process{Process: of}
	args := options(of)
	p.readArgs(args)
	_, p.state = placesOf(p.Get, p.Get(kit.Home), kit.Option(args, "--profile"))
	if bounded.Answers(p.Seen.Script) {
		manifest, _, _ := agentfile.ReadSmall(filepath.Join(agentproc.RealScript(p.Seen.Script, p.CWD), "../../package.json"), maxSmall)
		p.version = kit.Short(agentfile.Get(manifest, "version")) // a program of its own has none
	}
	d.readTerminal(p)
	return p
}

// readArgs reads the arguments after the program.
func (p *process) readArgs(args []string) {
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(names, strings.SplitN(arg, "=", 2)[0]) })
	}
	mode := kit.Option(args, "--mode")
	p.Headless = has("-p", "--print") || mode == "json" || mode == "text"
	p.noSession, p.settings = has("--no-session"), has("--config")
	p.Resumes = has("--resume", "-r", "--session", "--continue", "-c", "--fork")
	p.Named = cmp.Or(kit.Option(args, "--resume"), kit.Option(args, "-r"), kit.Option(args, "--session"))
	if strings.HasPrefix(p.Named, "-") { // another option
		p.Named = ""
	}
	p.Mode = kit.Option(args, "--approval-mode")
	if has("--yolo", "--auto-approve") {
		p.Mode = modeYolo
	}
}

// OwnsProcess implements adapters.ProcessOwner.
func (a *Adapter) OwnsProcess(row proc.Process) bool { return finder.Owns(a.Base, row) }

// readTerminal reads what shows the sessions of a process: the files that it has open, and the file of its terminal, which it writes when it starts, and when
// it goes on with another session (18.2.3). A file that is older than the process is that of another one.
func (d *discovery) readTerminal(p *process) {
	files, _ := d.Table.OpenFiles(p.Identity)
	for _, path := range files {
		if strings.HasSuffix(path, ".jsonl") {
			p.open = append(p.open, agentproc.RealPath(path))
		}
	}
	p.state, _ = d.Homes.OfProcess(p.state)
	terminals, _ := d.Table.OpenTerminals(p.Identity)
	if own, _ := d.Table.Terminal(p.Identity); own != "" {
		terminals = []string{own}
	}
	for _, tty := range terminals {
		name := strings.ReplaceAll(strings.TrimPrefix(tty, "/dev/"), "/", "-")
		data, info, err := agentfile.ReadSmall(filepath.Join(p.state, "terminal-sessions", name), maxSmall)
		lines := strings.Split(string(data), "\n") // the folder, the file of the session, and more
		if err == nil && len(lines) > 1 && strings.HasSuffix(lines[1], ".jsonl") && (p.SetBack || p.Precedes(info.ModTime())) {
			p.names, p.terminal = lines[1], name
		}
	}
}

// isNamed reports whether the file of the terminal of a process names a file. The name has the session's id; its folder has other names in a container.
func (p *process) isNamed(f *file) bool {
	return p.names != "" && filepath.Base(f.Path) == filepath.Base(p.names)
}

// claims reports whether something names a file as one of a session of the process.
func (p *process) claims(f *file) bool {
	return p.isNamed(f) || slices.Contains(p.open, f.Path) || p.Named != "" && strings.Contains(f.Path, p.Named)
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
	if p.Headless {
		return false
	}
	yolo := p.Mode == modeYolo
	return p.settings || p.Mode != "" && !yolo || slices.ContainsFunc([]string{p.Home, filepath.Join(p.CWD, ".omp")}, func(dir string) bool {
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
