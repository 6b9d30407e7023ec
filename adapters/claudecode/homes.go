package claudecode

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/environ"
	"rollcall/adapters/internal/report"
	"rollcall/bounded"
	"rollcall/proc"
)

// homeOf returns the configuration folder that a process uses.
func (a *Adapter) homeOf(id proc.Identity) string {
	env, err := a.table.Env(id)
	if err != nil {
		return ""
	}
	dir, user := environ.Get(env, "CLAUDE_CONFIG_DIR"), environ.Get(env, environ.Home)
	switch {
	case filepath.IsAbs(dir):
	case dir == "" && filepath.IsAbs(user):
		dir = filepath.Join(user, ".claude")
	default:
		return ""
	}
	if !bounded.Answers(dir) {
		return filepath.Clean(dir)
	}
	// A process of another mount namespace (a container with our folder mounted into
	// it) names it differently: that name has no meaning here.
	if _, err := os.Stat(filepath.Dir(dir)); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return filepath.Clean(dir)
}

// homes returns the configuration folders to look in, under the names by which they are used and, as
// roots, with links resolved: the user's own first, then those that the user named, and those that
// processes used, now or in the last 24 hours. Each folder is returned once, whatever symbolic links
// lead to it. A home that a live process is about to create need not exist yet. Folders whose file
// system does not answer are added to the problems. absent reports that nothing of Claude Code is here.
func (a *Adapter) homes(t *table, answer *report.Answer, at time.Time) (homes, roots []string, absent bool) {
	own := filepath.Clean(a.configDir())
	live := make(map[string]bool)
	for i := range t.claudes {
		if c := &t.claudes[i]; c.home != "" && c.home != own {
			live[c.home] = true
		}
	}
	absent = len(t.claudes) == 0 && t.err == nil
	elsewhere := report.AppendNew(a.named(), a.homesUsed.Use(slices.Collect(maps.Keys(live)), at)...)
	all := append([]string{own}, elsewhere...)
	a.current.Set(all)
	for i, dir := range all {
		if !bounded.Answers(dir) {
			answer.Problem(adapters.Unresponsive(dir))
			absent = false
			continue
		}
		info, err := os.Stat(dir)
		missing := errors.Is(err, fs.ErrNotExist)
		if i > 0 && missing && !live[dir] {
			a.homesUsed.Forget(dir)
			continue
		}
		root := realPath(dir)
		if slices.Contains(roots, root) || i > 0 && !missing && (err != nil || !info.IsDir() || !mayRead(info)) {
			continue
		}
		homes, roots, absent = append(homes, dir), append(roots, root), absent && missing
	}
	return homes, roots, absent
}

// homeWasMoved reports whether a home was renamed, or came back, while it was read, so that its registry and its transcripts were read at different times.
// Either the registry file of a process was not found and exists now, or the transcript of a session with such a file was not found where it was at the last
// answer.
func (d *discovery) homeWasMoved() bool {
	for _, p := range d.unregistered() {
		e, known := d.adapter.lastEntry(p.Identity)
		if !known || d.registered[p.PID] {
			continue
		}
		if _, err := os.Stat(e.path); err == nil {
			return true
		}
	}
	for _, s := range d.sessions {
		if d.wanted(s) && len(s.live) > 0 && (s.file == nil && d.adapter.hadTranscript(s.id) || errors.Is(s.err, fs.ErrNotExist)) {
			return true
		}
	}
	return false
}

// hadTranscript reports whether an earlier answer found a transcript of the session.
func (a *Adapter) hadTranscript(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.paths[id] != ""
}

// mayRead reports whether Rollcall looks in the folder: it belongs to the user, or
// Rollcall runs as root.
func mayRead(info fs.FileInfo) bool { return os.Geteuid() == 0 || agentfile.OwnedByUser(info) }

// registryFolders returns the folders that change first when a session starts: the registry;
// before its first entry the home, where older versions also write history.jsonl at each
// prompt; and for a home that a process has not created yet, the folder above it. The folders
// have the names by which the homes are used, so that a symbolic link that leads elsewhere
// later is noticed.
func registryFolders(homes []string) []string {
	var paths []string
	for i, home := range homes {
		path := filepath.Join(home, "sessions")
		if _, err := os.Stat(path); err != nil {
			path = home
		}
		if _, err := os.Stat(home); err != nil && i > 0 {
			path = filepath.Dir(home)
		}
		paths = report.AppendNew(paths, path)
	}
	return paths
}
