package pistore

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
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
	if dir := expandHome(s.Env("PI_CODING_AGENT_DIR"), s.Home); dir != "" {
		return dir
	}
	return filepath.Join(s.Home, ".pi", "agent")
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
	sessions := filepath.Join(agent, "sessions")
	d.settings = defaultSettings()
	d.roots.Add(sessions)
	if d.roots.Answers(sessions) {
		var err error
		d.settings, err = readSettings(filepath.Join(agent, "settings.json"))
		if d.store.Name() == Pi {
			d.answer.Problem(err)
		}
	}
	for _, dir := range []string{d.store.Env("PI_CODING_AGENT_SESSION_DIR"), d.store.Env("PI_SESSIONS_DIR"), d.settings.SessionDir} {
		dir = expandHome(dir, d.store.Home)
		if dir != "" {
			d.roots.Add(dir)
		}
	}
	for _, dir := range d.store.Named() {
		if filepath.Base(dir) != "sessions" {
			dir = filepath.Join(dir, "sessions")
		}
		d.roots.Add(dir)
	}
	var used []string
	for _, p := range d.processes {
		used = append(used, slices.Concat(p.namedFolders, p.toolFolders())...)
	}
	own := len(d.roots.Paths)
	d.roots.FindUsed(d.store.Base, used, d.now)
	d.addRemembered(d.roots.Paths[own:])
	d.processes = slices.DeleteFunc(d.processes, func(p *process) bool { // drop the processes that use other homes
		if i := slices.IndexFunc(p.folders, d.roots.Unresponsive); i >= 0 {
			p.unresponsive = p.folders[i]
		}
		if p.unresponsive != "" {
			d.unresponsiveProcesses = append(d.unresponsiveProcesses, p)
			return true
		}
		return !slices.ContainsFunc(d.roots.Paths, p.uses)
	})
}

// absent reports whether nothing shows that the agent is installed: for Pi its folder
// or a process; for pi_agent_rust, which has no separate folder, a session of its form,
// its index, or a process.
func (d *discovery) absent() bool {
	switch {
	case slices.ContainsFunc(d.processes, func(p *process) bool { return p.agent == d.store.Name() }), d.roots.AreSilent():
		return false
	case d.store.Name() == PiRust:
		return !d.hasRust
	}
	return !mayExist(d.store.agentDir()) && d.roots.Absent()
}

// hidden reports whether the folder of a process, or something in it or above it, could
// not be read in this call.
func (d *discovery) hidden(p *process) bool {
	for _, err := range d.answer.Problems() {
		var problem *adapters.Problem
		if !errors.As(err, &problem) {
			continue
		}
		for _, r := range d.roots.Paths {
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
