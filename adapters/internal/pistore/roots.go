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
)

// root is a folder with sessions: those of an agent folder, in one folder for
// each working directory, or one that settings name, with all sessions in it.
type root struct {
	path    string // symbolic links resolved
	missing bool
}

// settings are what Pi's settings.json says that matters here.
type settings struct {
	SessionDir string `json:"sessionDir"`
	Retry      struct {
		Enabled     *bool    `json:"enabled"`
		MaxRetries  *int     `json:"maxRetries"`
		BaseDelayMs *float64 `json:"baseDelayMs"`
	} `json:"retry"`
}

const maxSettings = 1 << 20

// readSettings returns what could be read; no settings are none.
func readSettings(path string) (settings, error) {
	f, _, err := openRegular(path)
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
	var s settings
	if err := json.Unmarshal(data, &s); err != nil {
		return settings{}, &adapters.Problem{Kind: adapters.ErrFormat, Path: path, Err: err,
			Fix: "Pi ignores it as well until it is valid JSON"}
	}
	return s, nil
}

// retryDelay is how long the agent waits before it tries again after so many
// failed attempts, and whether it does.
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

// agentDir is where Pi keeps its files for the user that runs Rollcall.
func (s *Store) agentDir() string {
	if dir := s.expand(s.env("PI_CODING_AGENT_DIR")); dir != "" {
		return dir
	}
	return filepath.Join(s.home, ".pi", "agent")
}

// expand resolves a leading ~, as Pi does. Relative paths are relative to a
// working directory that isn't known: they name nothing here.
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

// findRoots finds the folders to look in: the user's own, and those that live
// processes of the same user were started with. Each once, whatever symbolic
// links lead to it.
func (d *discovery) findRoots() {
	agent := d.agentDir()
	var err error
	if d.settings, err = readSettings(filepath.Join(agent, "settings.json")); err != nil && d.name == adapters.Pi {
		d.problem(err)
	}
	d.addRoot(filepath.Join(agent, "sessions"))
	for _, dir := range []string{d.env("PI_CODING_AGENT_SESSION_DIR"), d.env("PI_SESSIONS_DIR"), d.settings.SessionDir} {
		if dir = d.expand(dir); dir != "" {
			d.addRoot(dir)
		}
	}
	for _, p := range d.processes {
		for _, dir := range p.named {
			if info, err := os.Stat(dir); err == nil && info.IsDir() && ownedByUser(info) {
				d.addRoot(dir)
			}
		}
	}
	d.processes = slices.DeleteFunc(d.processes, func(p *process) bool { // those of other homes
		return !slices.ContainsFunc(d.roots, func(r root) bool { return p.uses(r.path) })
	})
}

func (d *discovery) addRoot(path string) {
	if !slices.Contains(d.roll.LookedIn, path) {
		d.roll.LookedIn = append(d.roll.LookedIn, path)
	}
	path = realPath(path)
	if slices.ContainsFunc(d.roots, func(r root) bool { return r.path == path }) {
		return
	}
	_, err := os.Stat(path)
	d.roots = append(d.roots, root{path: path, missing: errors.Is(err, fs.ErrNotExist)})
}

// absent says whether nothing speaks for the agent: for Pi its folder or a
// process; for pi_agent_rust, which has no folder of its own, a session of its
// form, its index, or a process.
func (d *discovery) absent() bool {
	for _, p := range d.processes {
		if p.agent == d.name {
			return false
		}
	}
	if d.tableErr != nil && d.name == adapters.Pi {
		return false
	}
	if d.name == adapters.PiRust {
		return !d.rust
	}
	if _, err := os.Stat(d.agentDir()); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return !slices.ContainsFunc(d.roots, func(r root) bool { return !r.missing })
}

// realPath resolves symbolic links as far as the path exists.
func realPath(path string) string {
	path = filepath.Clean(path)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(realPath(parent), filepath.Base(path))
	}
	return path
}
