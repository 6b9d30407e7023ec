package pistore

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/container"
	"rollcall/bounded"
)

// root is a folder with sessions: the folder of an agent, with one folder for each
// working directory, or a folder that the settings name, with all sessions directly in
// it.
type root struct {
	path    string // symbolic links resolved
	missing bool
}

// settings holds the settings in Pi's settings.json that Rollcall needs.
type settings struct {
	SessionDir string `json:"sessionDir"`
	Retry      struct {
		Enabled     *bool    `json:"enabled"`
		MaxRetries  *int     `json:"maxRetries"`
		BaseDelayMs *float64 `json:"baseDelayMs"`
	} `json:"retry"`
}

const maxSettings = 1 << 20

// readSettings returns the settings that could be read. Missing settings are not an
// error.
func readSettings(path string) (settings, error) {
	f, _, err := agentfile.OpenUntouched(path)
	if errors.Is(err, fs.ErrNotExist) {
		return settings{}, nil
	}
	if err != nil {
		return settings{}, adapters.Unreadable(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSettings))
	if err != nil {
		return settings{}, adapters.Unreadable(path, err)
	}
	if len(data) == 0 { // Pi is writing it
		return settings{}, nil
	}
	var s settings
	if err := json.Unmarshal(data, &s); err != nil {
		return settings{}, &adapters.Problem{Kind: adapters.ErrFormat, Path: path, Err: err,
			Fix: "Pi ignores it as well until it is valid JSON"}
	}
	return s, nil
}

// retryDelay returns the time that the agent waits after so many failed attempts before
// the next one, and whether there is a next one.
func (s *settings) retryDelay(attempts int) (time.Duration, bool) {
	enabled, retries, base := true, 3, 2000.0
	if s.Retry.Enabled != nil {
		enabled = *s.Retry.Enabled
	}
	if s.Retry.MaxRetries != nil {
		retries = *s.Retry.MaxRetries
	}
	if s.Retry.BaseDelayMs != nil {
		base = *s.Retry.BaseDelayMs
	}
	ms := base
	for range min(max(attempts, 1)-1, 20) {
		ms *= 2
	}
	return time.Duration(min(max(ms, 0), 600_000)) * time.Millisecond, enabled && attempts <= retries
}

// agentDir returns the folder in which Pi keeps the files of the user that runs
// Rollcall.
func (s *Store) agentDir() string {
	if dir := s.expand(s.env("PI_CODING_AGENT_DIR")); dir != "" {
		return dir
	}
	return filepath.Join(s.home, ".pi", "agent")
}

// expand resolves a leading ~, as Pi does. It returns "" for a relative path, since the
// working directory to which it is relative is not known.
func (s *Store) expand(path string) string { return expandHome(path, s.home) }

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
	var err error
	if !d.answers(agent) {
		d.settings = settings{}
	} else if d.settings, err = readSettings(filepath.Join(agent, "settings.json")); err != nil && d.store.name == adapters.Pi {
		d.answer.Problem(err)
	}
	d.addRoot(filepath.Join(agent, "sessions"))
	for _, dir := range []string{d.store.env("PI_CODING_AGENT_SESSION_DIR"), d.store.env("PI_SESSIONS_DIR"), d.settings.SessionDir} {
		if dir = d.store.expand(dir); dir != "" {
			d.addRoot(dir)
		}
	}
	for _, dir := range d.store.named() {
		d.addRoot(filepath.Join(dir, "sessions"))
	}
	var named []string
	for _, p := range d.processes {
		named = append(named, p.namedFolders...)
	}
	for _, dir := range d.store.homes.Use(named, d.now) {
		if !d.answers(dir) {
			continue
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() && (agentfile.OwnedByUser(info) || os.Geteuid() == 0) {
			d.addRoot(dir)
		}
	}
	for _, p := range d.processes {
		if p.unresponsive != "" {
			d.answers(p.unresponsive)
		} else if i := slices.IndexFunc(p.folders, func(path string) bool { return slices.Contains(d.unresponsive, path) }); i >= 0 {
			p.unresponsive = p.folders[i]
		}
	}
	d.processes = slices.DeleteFunc(d.processes, func(p *process) bool { // those of other homes
		if p.unresponsive != "" {
			d.unresponsiveProcesses = append(d.unresponsiveProcesses, p)
			return true
		}
		return !slices.ContainsFunc(d.roots, func(r root) bool { return p.uses(r.path) })
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

func (d *discovery) addRoot(path string) {
	d.answer.LookedIn(path)
	if path = realPath(path); !d.answers(path) {
		return
	}
	if slices.ContainsFunc(d.roots, func(r root) bool { return r.path == path }) {
		return
	}
	_, err := os.Stat(path)
	d.roots = append(d.roots, root{path: path, missing: errors.Is(err, fs.ErrNotExist)})
}

// absent reports whether nothing shows that the agent is installed: for Pi its folder
// or a process; for pi_agent_rust, which has no separate folder, a session of its form,
// its index, or a process.
func (d *discovery) absent() bool {
	for _, p := range d.processes {
		if p.agent == d.store.name {
			return false
		}
	}
	if len(d.unresponsive) > 0 {
		return false
	}
	if d.tableErr != nil && d.store.name == adapters.Pi {
		return false
	}
	if d.store.name == adapters.PiRust {
		return !d.hasRust
	}
	if _, err := os.Stat(d.store.agentDir()); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return !slices.ContainsFunc(d.roots, func(r root) bool { return !r.missing })
}

// realPath resolves symbolic links as far as the path exists. One that does not
// answer stays as it is.
func realPath(path string) string {
	path = filepath.Clean(path)
	if !bounded.Answers(path) {
		return path
	}
	if resolved, err := container.EvalSymlinks(path); err == nil {
		return resolved
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(realPath(parent), filepath.Base(path))
	}
	return path
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
			folder := filepath.Join(r.path, folderName(p.cwd))
			if p.uses(r.path) && (within(problem.Path, folder) || within(folder, problem.Path)) {
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
