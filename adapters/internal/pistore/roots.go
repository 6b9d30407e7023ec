package pistore

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

// settings holds the settings in Pi's settings.json that Rollcall needs.
type settings struct {
	SessionDir string `json:"sessionDir"`
	Retry      struct {
		BaseDelayMs float64 `json:"baseDelayMs"`
	} `json:"retry"`
}

// defaultSettings returns the settings of Pi without a settings.json.
func defaultSettings() (s settings) {
	s.Retry.BaseDelayMs = 2000
	return s
}

const maxSettings = 1 << 20

// readSettings returns the settings. Missing ones, and those that can't be read, are the default ones. A missing file is
// no error.
func readSettings(path string) (settings, error) {
	data, _, err := agentfile.ReadSmall(path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 { // Pi is writing it
		return defaultSettings(), nil
	}
	if err != nil {
		return defaultSettings(), adapters.Unreadable(path, err)
	}
	s := defaultSettings()
	if err := json.Unmarshal(data, &s); err != nil {
		return defaultSettings(), &adapters.Problem{Kind: adapters.ErrFormat, Path: path, Err: err,
			Fix: "Pi ignores it as well until it is valid JSON"}
	}
	return s, nil
}

// retryDelay returns the time that the agent waits after so many failed attempts before
// the next one.
func (s *settings) retryDelay(attempts int) time.Duration {
	ms := s.Retry.BaseDelayMs
	for range min(max(attempts, 1)-1, 20) {
		ms *= 2
	}
	return time.Duration(min(max(ms, 0), 600_000)) * time.Millisecond
}

// agentDir returns the folder in which Pi keeps the files of the user that runs
// Rollcall.
func (s *Store) agentDir() string {
	if dir := expandHome(s.env("PI_CODING_AGENT_DIR"), s.home); dir != "" {
		return dir
	}
	return filepath.Join(s.home, ".pi", "agent")
}

// expandHome resolves a leading ~, as Pi does. It returns "" for a relative path, since the
// working directory to which it is relative is not known.
func expandHome(path, home string) string {
	if path == "~" {
		return home
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}

// findRoots finds the folders to look in: the user's own, those that the user named, and those that live processes
// of the same user, or for root of any user, were started with. Each folder is found
// once, whatever symbolic links lead to it.
func (d *discovery) findRoots() {
	agent := d.store.agentDir()
	d.settings = defaultSettings()
	if d.answers(agent) {
		var err error
		d.settings, err = readSettings(filepath.Join(agent, "settings.json"))
		if err != nil && d.store.name == Pi {
			d.answer.Problem(err)
		}
	}
	d.addRoot(filepath.Join(agent, "sessions"))
	for _, dir := range []string{d.store.env("PI_CODING_AGENT_SESSION_DIR"), d.store.env("PI_SESSIONS_DIR"), d.settings.SessionDir} {
		dir = expandHome(dir, d.store.home)
		if dir != "" {
			d.addRoot(dir)
		}
	}
	for _, dir := range d.store.named() {
		d.addRoot(filepath.Join(dir, "sessions"))
	}
	var named, remembered []string
	for _, p := range d.processes {
		for _, dir := range slices.Concat(p.namedFolders, p.toolFolders()) {
			if !slices.Contains(d.roots, agentproc.RealPath(dir)) {
				named = append(named, dir)
			}
		}
	}
	for _, dir := range d.store.homes.Use(named, d.now) {
		if !d.answers(dir) {
			continue
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() && (agentfile.OwnedByUser(info) || os.Geteuid() == 0) {
			d.addRoot(dir)
			remembered = append(remembered, agentproc.RealPath(dir))
		}
	}
	d.addRemembered(remembered)
	d.store.current.Set(d.roots)
	for _, p := range d.processes {
		if p.unresponsive != "" {
			d.answers(p.unresponsive)
		} else if i := slices.IndexFunc(p.folders, func(path string) bool { return slices.Contains(d.unresponsive, path) }); i >= 0 {
			p.unresponsive = p.folders[i]
		}
	}
	d.processes = slices.DeleteFunc(d.processes, func(p *process) bool { // drop the processes that use other homes
		if p.unresponsive != "" {
			d.unresponsiveProcesses = append(d.unresponsiveProcesses, p)
			return true
		}
		return !slices.ContainsFunc(d.roots, p.uses)
	})
}

// answers reports whether the file system of a folder answers, and adds the problem
// when it does not.
func (d *discovery) answers(path string) bool {
	if bounded.Answers(path) {
		return true
	}
	if !slices.ContainsFunc(d.unresponsive, func(above string) bool { return within(path, above) }) {
		d.answer.Problem(adapters.Unresponsive(path))
	}
	d.unresponsive = append(d.unresponsive, path)
	return false
}

// addRoot adds a folder with sessions, without symbolic links: the folder of an agent, with one folder for each
// working directory, or a folder that the settings name, with all sessions directly in it.
func (d *discovery) addRoot(path string) {
	d.answer.LookedIn(path)
	path = agentproc.RealPath(path)
	if d.answers(path) {
		d.roots = kit.AppendNew(d.roots, path)
	}
}

// absent reports whether nothing shows that the agent is installed: for Pi its folder
// or a process; for pi_agent_rust, which has no separate folder, a session of its form,
// its index, or a process.
func (d *discovery) absent() bool {
	switch {
	case slices.ContainsFunc(d.processes, func(p *process) bool { return p.agent == d.store.name }), len(d.unresponsive) > 0:
		return false
	case d.store.name == PiRust:
		return !d.hasRust
	}
	return d.tableErr == nil && !mayExist(d.store.agentDir()) && !slices.ContainsFunc(d.roots, mayExist)
}

// hidden reports whether the folder of a process, or something in it or above it, could
// not be read in this call.
func (d *discovery) hidden(p *process) bool {
	for _, err := range slices.Concat(d.answer.Problems(), d.storeProblems) {
		var problem *adapters.Problem
		if !errors.As(err, &problem) {
			continue
		}
		for _, r := range d.roots {
			folder := filepath.Join(r, folderName(p.cwd))
			if p.uses(r) && (within(problem.Path, folder) || within(folder, problem.Path)) {
				return true
			}
		}
	}
	return false
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
