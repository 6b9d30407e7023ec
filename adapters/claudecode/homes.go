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
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc"
)

// homeOf returns the configuration folder that a process uses.
func (a *Adapter) homeOf(id proc.Identity) string {
	env, err := a.Table.Env(id)
	if err != nil {
		return ""
	}
	dir, user := kit.Get(env, "CLAUDE_CONFIG_DIR"), kit.Get(env, kit.Home)
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
func (a *Adapter) homes(t *table, answer *kit.Answer, at time.Time) (homes, roots []string, absent bool) {
	own := filepath.Clean(a.configDir())
	live := make(map[string]bool)
	for i := range t.claudes {
		if c := &t.claudes[i]; c.home != "" && c.home != own {
			live[c.home] = true
		}
	}
	absent = len(t.claudes) == 0 && t.err == nil
	elsewhere := kit.AppendNew(a.Base.Named(), a.Recent.Use(slices.Collect(maps.Keys(live)), at)...)
	var infos []fs.FileInfo
	all := append([]string{own}, elsewhere...)
	a.Current.Set(all)
	for i, dir := range all {
		if !bounded.Answers(dir) {
			answer.Problem(adapters.Unresponsive(dir))
			absent = false
			continue
		}
		info, err := os.Stat(dir)
		missing := errors.Is(err, fs.ErrNotExist)
		if i > 0 && missing && !live[dir] {
			a.Recent.Forget(dir)
			continue
		}
		root := realPath(dir)
		// A container names a folder that it shares with another one below its own root.
		known := slices.Contains(roots, root) || err == nil && slices.ContainsFunc(infos, func(o fs.FileInfo) bool { return os.SameFile(o, info) })
		if known || i > 0 && !missing && (err != nil || !info.IsDir() || os.Geteuid() != 0 && !agentfile.OwnedByUser(info)) {
			continue // it belongs to another user
		}
		if err == nil {
			infos = append(infos, info)
		}
		homes = append(homes, dir)
		roots = append(roots, root)
		absent = absent && missing
	}
	return homes, roots, absent
}

// places holds what was at the roots when they were read; nil for one that did not exist.
type places []fs.FileInfo

func placesOf(roots []string) (p places) {
	for _, root := range roots {
		info, err := os.Stat(root)
		if err != nil {
			info = nil
		}
		p = append(p, info)
	}
	return p
}

// moved reports whether a root was renamed, or came back, since p was read, so that its registry and its transcripts were
// read at different times.
func (p places) moved(roots []string) bool {
	for i, now := range placesOf(roots) {
		if (now == nil) != (p[i] == nil) || now != nil && !os.SameFile(now, p[i]) {
			return true
		}
	}
	return false
}

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
		paths = kit.AppendNew(paths, path)
	}
	return paths
}
