package openclaw

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

const (
	defaultPort = 18789
	envURL      = "OPENCLAW_GATEWAY_URL"
)

// target is a gateway to ask.
type target struct {
	id   string // its address in a normal form, which identifies the gateway
	url  string // ws:// or wss://, without any secret
	name string // Session.Remote
	auth credentials
	from string // where the credentials are from, for messages
	// allowPlaintext permits sending auth without TLS to another machine.
	allowPlaintext bool
	pin            string // SHA-256 that its certificate must have; "": one that the system trusts

	named    string // the place where the user named it, so that it is expected to run
	stateDir string // of a local one
	lockPath string
	owner    owner

	workspaces map[string]string // of its agents, as its settings say
}

// search holds the inputs and the results of find.
type search struct {
	adapter   *Adapter
	home      string
	gateways  []gatewayProcess
	targets   []*target
	orphans   []*target // state folders with conversations and without settings or a gateway
	answer    *kit.Answer
	installed bool
}

// find lists the gateways that run, and those that are set up or named in settings.
func (a *Adapter) find(ctx context.Context) *search {
	s := &search{adapter: a, answer: kit.NewAnswer(), home: cmp.Or(a.Env("OPENCLAW_HOME"), a.Home)}
	rows, _ := a.Processes(ctx, s.answer)
	s.gateways = processes(a.Table, rows, s.home)
	for i := range s.gateways {
		s.correctStateDir(&s.gateways[i])
	}
	for _, g := range a.cfg.Gateways {
		s.addNamed(g.URL, credentials{g.Token, g.Token}, g.Name, "Rollcall's settings")
	}
	if u := strings.TrimSpace(a.Env(envURL)); u != "" {
		s.addNamed(u, s.envAuth(), "", envURL)
	}
	for _, dir := range s.stateDirs() {
		s.addLocal(dir)
	}
	for _, g := range s.gateways {
		s.addProcess(g)
	}
	if n := s.envPort(); n != 0 && len(s.targets) == 0 { // it may be a gateway in a container
		s.addNamed("ws://127.0.0.1:"+strconv.Itoa(n), s.envAuth(), "", "OPENCLAW_GATEWAY_PORT")
	}
	s.addOrphans()
	return s
}

// addOrphans adds state folders without settings or a gateway, and says so. Where another gateway is known, it may be theirs, and lists their conversations.
func (s *search) addOrphans() {
	alone := len(s.targets) == 0
	for _, t := range s.orphans {
		s.answer.Problem(&adapters.Problem{Kind: adapters.ErrUnreadable, Path: t.stateDir,
			Err: fmt.Errorf("it has the conversations of %s, and %s does not exist, so that their gateway is not known", t.agents(), t.from),
			Fix: "put openclaw.json back (`openclaw setup` makes a new one), or move the folder away"})
		if alone {
			t.id = "folder:" + t.stateDir
			s.targets = append(s.targets, t)
		}
	}
}

// envPort returns the port that the environment names, or 0.
func (s *search) envPort() int {
	n, _ := strconv.Atoi(strings.TrimSpace(s.adapter.Env("OPENCLAW_GATEWAY_PORT")))
	return validPort(n)
}

// validPort returns n, and 0 for a number that is not that of a port.
func validPort(n int) int {
	if n < 1 || n > 65535 {
		return 0
	}
	return n
}

func (s *search) envAuth() credentials {
	return credentials{strings.TrimSpace(s.adapter.Env("OPENCLAW_GATEWAY_TOKEN")), strings.TrimSpace(s.adapter.Env("OPENCLAW_GATEWAY_PASSWORD"))}
}

// addNamed adds a gateway that the user named.
func (s *search) addNamed(raw string, auth credentials, name, by string) {
	s.installed = true
	addr, inURL, err := parseURL(raw)
	if err != nil {
		s.answer.Problem(&adapters.Problem{Kind: adapters.ErrFormat, Path: by, Err: err,
			Fix: "an address looks like ws://127.0.0.1:18789 or wss://gateway.example"})
		return
	}
	from := by
	switch {
	case auth.none():
		auth = inURL
	case by == envURL:
		from = "OPENCLAW_GATEWAY_TOKEN"
	}
	s.add(&target{id: addr.id, url: addr.url, name: name, auth: auth, from: from, named: by})
}

// add adds a target. If one with the same address exists, add completes that one
// instead.
func (s *search) add(t *target) {
	t.name, t.allowPlaintext = cmp.Or(t.name, t.url), s.adapter.cfg.AllowPlaintext
	s.answer.LookedIn(t.url)
	i := slices.IndexFunc(s.targets, func(o *target) bool { return o.id == t.id })
	if i < 0 {
		s.targets = append(s.targets, t)
		return
	}
	have := s.targets[i]
	if have.auth.none() {
		have.auth, have.from = t.auth, t.from
	}
	have.pin = cmp.Or(have.pin, t.pin)
	if have.workspaces == nil {
		have.workspaces = t.workspaces
	}
	have.named = cmp.Or(have.named, t.named)
	if have.stateDir == "" || have.owner.state == ownerNone {
		have.stateDir = cmp.Or(have.stateDir, t.stateDir)
		have.lockPath = cmp.Or(have.lockPath, t.lockPath)
		have.owner = t.owner
	}
}

// stateDir is a folder in which a gateway keeps its state.
type stateDir struct {
	path    string
	profile string
	main    bool // the one that the environment names
	config  string
	process *gatewayProcess
}

// stateDirs returns the folders that the environment names, the default one, those that the user named, those of
// profiles, and those of running gateways.
func (s *search) stateDirs() []stateDir {
	byDefault := filepath.Join(s.home, ".openclaw")
	main := byDefault
	if dir := strings.TrimSpace(s.adapter.Env("OPENCLAW_STATE_DIR")); dir != "" {
		main = expandHome(dir, s.home)
	} else if p := profileName(s.adapter.Env("OPENCLAW_PROFILE")); p != "" {
		main = byDefault + "-" + p
	}
	config := expandHome(strings.TrimSpace(s.adapter.Env("OPENCLAW_CONFIG_PATH")), s.home)
	dirs := []stateDir{{path: main, main: true, config: config, profile: profileOf(main)}}
	add := func(d stateDir) {
		d.path = filepath.Clean(d.path)
		i := slices.IndexFunc(dirs, func(o stateDir) bool { return o.path == d.path })
		if i < 0 {
			d.profile = profileOf(d.path)
			dirs = append(dirs, d)
		} else if d.process != nil {
			dirs[i].process, dirs[i].config = d.process, cmp.Or(dirs[i].config, d.config)
		}
	}
	add(stateDir{path: byDefault})
	for _, path := range s.adapter.cfg.Homes() {
		add(stateDir{path: path})
	}
	entries, _ := os.ReadDir(s.home) // a problem of the home folder is reported elsewhere
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".openclaw-") && (e.IsDir() || e.Type()&os.ModeSymlink != 0) {
			add(stateDir{path: filepath.Join(s.home, e.Name())})
		}
	}
	for i := range s.gateways {
		g := &s.gateways[i]
		if g.stateDir != "" {
			add(stateDir{path: g.stateDir, config: g.config, process: g})
		}
	}
	paths := make([]string, len(dirs))
	for i := range dirs {
		paths[i] = dirs[i].path
	}
	s.adapter.Current.Set(paths)
	return dirs
}

func expandHome(path, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.Join(home, path[1:])
	}
	return path
}

func profileName(name string) string {
	name = strings.TrimSpace(name)
	if strings.EqualFold(name, "default") || strings.ContainsAny(name, `/\`) {
		return ""
	}
	return name
}

func profileOf(dir string) string {
	_, profile, _ := strings.Cut(filepath.Base(dir), ".openclaw-")
	return profile
}

// addLocal adds the gateway of a state folder, if it has one.
func (s *search) addLocal(d stateDir) {
	config := cmp.Or(d.config, filepath.Join(d.path, "openclaw.json"))
	path := lockPath(d.path)
	s.answer.LookedIn(d.path, config)
	if !bounded.Answers(d.path) {
		s.answer.Problem(adapters.Unresponsive(d.path))
		s.installed = true
		return
	}
	s.answer.Watch(d.path, filepath.Dir(path))
	if _, err := os.Stat(d.path); err == nil || !os.IsNotExist(err) {
		s.installed = true
	}
	set, err := readSettings(config, s.lookup(d))
	configured := err == nil
	if err != nil && !os.IsNotExist(err) {
		s.answer.Problem(err)
		s.installed = true
	}
	l, locked, err := readLock(path)
	if err != nil {
		s.answer.Problem(err)
	}
	t := &target{stateDir: d.path, lockPath: path, owner: s.ownerOf(l, locked, path), from: config}
	if d.process != nil {
		t.owner = owner{state: ownerAlive, pid: d.process.PID}
	}
	if set.remote != "" {
		s.addRemote(set)
	}
	if t.owner.state != ownerAlive && (!configured || set.remote != "") {
		if set.remote == "" && len(t.stores()) > 0 {
			t.workspaces = s.workspaces(d, set)
			s.orphans = append(s.orphans, t)
		}
		return
	}
	t.auth = s.localAuth(d, set)
	if t.auth != set.auth {
		t.from = "the environment"
	}
	t.workspaces = s.workspaces(d, set)
	t.setAddress(s.portOf(d, set, l, t.owner), set)
	s.installed = true
	s.add(t)
}

// setAddress sets the address of a gateway of this machine.
func (t *target) setAddress(port int, set settings) {
	scheme := "ws"
	if set.tls {
		scheme, t.pin = "wss", set.pinOf(t.stateDir)
	}
	t.url = fmt.Sprintf("%s://127.0.0.1:%d", scheme, port)
	t.id = fmt.Sprintf("loopback:%d", port)
}

// agents names the agents whose conversations are in the target's state folder.
func (t *target) agents() string {
	var names []string
	for _, s := range t.stores() {
		names = append(names, kit.PlainWord(s.agent))
	}
	return strings.Join(names, ", ")
}

// workspaces returns the agents' folders. The default agent's is below the state folder
// unless the settings name another.
func (s *search) workspaces(d stateDir, set settings) map[string]string {
	folders := map[string]string{}
	for agent, dir := range set.workspaces {
		if dir != "" {
			folders[agent] = expandHome(dir, s.home)
		}
	}
	folders[""] = cmp.Or(folders[""], filepath.Join(d.path, "workspace"))
	return folders
}

// addRemote adds the gateway on another machine that an openclaw.json names.
func (s *search) addRemote(set settings) {
	addr, inURL, err := parseURL(set.remote)
	if err != nil {
		s.answer.Problem(&adapters.Problem{Kind: adapters.ErrFormat, Path: set.path,
			Err: fmt.Errorf("gateway.remote.url: %w", err)})
		return
	}
	auth := set.auth
	if auth.none() {
		auth = inURL
	}
	if auth.none() {
		auth = s.envAuth()
	}
	s.installed = true
	s.add(&target{id: addr.id, url: addr.url, auth: auth, from: set.path, pin: set.pin, named: "gateway.remote.url in " + set.path})
}

// lookup returns a function that resolves variables as the gateway of a state folder
// would.
func (s *search) lookup(d stateDir) func(string) string {
	file := sync.OnceValue(d.dotenv)
	return func(name string) string {
		if v := cmp.Or(d.env(name), s.adapter.Env(name)); v != "" {
			return v
		}
		return file()[name]
	}
}

// env returns a variable of the running gateway's environment, or "".
func (d stateDir) env(name string) string {
	if d.process == nil {
		return ""
	}
	return d.process.env[name]
}

// dotenv returns the variables of the .env file in the folder, which OpenClaw reads.
func (d stateDir) dotenv() map[string]string { return dotenv(filepath.Join(d.path, ".env")) }

// localAuth returns the credentials for a gateway on this machine: those that the
// running one was given, then those of the environment, then those of its settings.
func (s *search) localAuth(d stateDir, set settings) credentials {
	if c := (credentials{d.env("OPENCLAW_GATEWAY_TOKEN"), d.env("OPENCLAW_GATEWAY_PASSWORD")}); !c.none() {
		return c
	}
	if d.main && s.adapter.Env(envURL) == "" {
		if c := s.envAuth(); !c.none() {
			return c
		}
	}
	if set.auth.none() {
		file := d.dotenv()
		return credentials{file["OPENCLAW_GATEWAY_TOKEN"], file["OPENCLAW_GATEWAY_PASSWORD"]}
	}
	return set.auth
}

// portOf returns the port of a local gateway, from the most reliable source that has
// it.
func (s *search) portOf(d stateDir, set settings, l lock, o owner) int {
	var locked, process, env int
	if o.state == ownerAlive {
		locked = l.Port
	}
	if d.process != nil {
		process = d.process.port
	}
	if d.main {
		env = s.envPort()
	}
	byDefault := defaultPort
	if d.profile != "" {
		byDefault = profilePort(d.profile)
	}
	return cmp.Or(locked, process, env, set.port, l.Port, byDefault)
}

// profilePort returns the port on which 2026.9.6 lets the gateway of a profile listen
// by default: FNV-1a of its name.
func profilePort(profile string) int {
	hash := uint32(2166136261)
	for _, b := range []byte(profile) {
		hash = (hash ^ uint32(b)) * 16777619
	}
	return 20000 + int(hash%40000)
}

// addProcess adds a running gateway whose state folder isn't known: it was started
// with an environment that can't be read.
func (s *search) addProcess(g gatewayProcess) {
	if g.foreign {
		return
	}
	s.installed = true
	if g.stateDir != "" || len(s.targets) > 0 {
		return
	}
	n := strconv.Itoa(cmp.Or(g.port, defaultPort))
	s.add(&target{id: "loopback:" + n, url: "ws://127.0.0.1:" + n, auth: s.envAuth(), from: "the environment",
		owner: owner{state: ownerAlive, pid: g.PID}})
}

// startHint returns how a gateway is started.
func startHint() string {
	if runtime.GOOS == "linux" {
		return "start it with `openclaw gateway start`, or `openclaw gateway` in a terminal"
	}
	return "start it with `openclaw gateway start`"
}
