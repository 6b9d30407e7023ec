package claudecode

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rollcall/adapters/internal/kit"
)

// homes reads the processes and finds the configuration folders to look in: the user's own first, then those that the user named, and those that
// processes used, now or in the last 24 hours. A home that a live process is about to create need not exist yet.
func (a *Adapter) homes(ctx context.Context, answer *kit.Answer) (t *table, homes kit.Roots) {
	t = a.readTable(ctx, answer)
	homes = kit.Roots{Answer: answer, Store: "sessions", NoTable: t.unread, InUse: len(t.claudes) > 0}
	var used []string
	for i := range t.claudes {
		c := &t.claudes[i]
		root, known := homes.OfProcess(c.home)
		c.unresponsive = homes.Unresponsive(c.home)
		if !known && !c.unresponsive {
			c.home = ""
			continue
		}
		c.root = root
		if known {
			used = append(used, c.home)
		}
	}
	homes.Find(a.Base, a.configDir(), slices.Clone(used), a.Now())
	for _, dir := range used {
		if !kit.MayExist(dir) {
			homes.Add(dir)
		}
	}
	return t, homes
}

// homeOf returns the configuration folder that an environment names; "" if that is not known.
func homeOf(env func(string) string, user string) string {
	return cmp.Or(env("CLAUDE_CONFIG_DIR"), filepath.Join(user, ".claude"))
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
