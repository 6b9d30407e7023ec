package codex

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/proc"
)

// lockFolder is where 0.169 keeps one lock file per thread that is loaded.
const lockFolder = "thread-writer-locks"

// root is one Codex home.
type root struct {
	path  string // links resolved
	state []string
	host  []*host // those known to use it
}

// roots finds every Codex home in use: that of the user's environment, those that
// live Codex processes were started with, and those that their open rollouts lie
// in. looked names all that were tried.
func (a *Adapter) roots(c census) (found []*root, looked []string, problems []error) {
	own := a.env("CODEX_HOME")
	if own == "" {
		own = filepath.Join(a.home, ".codex")
	}
	add := func(path string) *root {
		looked = appendNew(looked, path)
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				problems = append(problems, adapters.Unreadable(path, err))
			}
			return nil
		}
		for _, r := range found {
			if r.path == target {
				return r
			}
		}
		if fi, err := os.Stat(target); err == nil && !fi.IsDir() {
			problems = append(problems, adapters.Unreadable(path, fmt.Errorf("not a folder")))
			return nil
		}
		r := &root{path: target}
		r.state = appendNew(r.state, a.env("CODEX_SQLITE_HOME"))
		found = append(found, r)
		return r
	}
	add(own)
	for _, h := range c.hosts {
		var uses []*root
		switch users := filepath.Join(h.user, ".codex"); {
		case filepath.IsAbs(h.home):
			uses = append(uses, add(h.home))
		case filepath.IsAbs(users) && isFolder(users): // not so where it is a container's name for it
			uses = append(uses, add(users))
		}
		for rollout := range h.rollouts {
			if path := rootOf(rollout); path != "" {
				uses = append(uses, add(path))
			}
		}
		if len(uses) == 0 && len(found) > 0 && h.user == "" {
			uses = append(uses, found[0])
		}
		for _, r := range uses {
			if r != nil && !slices.Contains(r.host, h) {
				r.host = append(r.host, h)
				r.state = appendNew(r.state, append(h.state, h.stateDir)...)
			}
		}
	}
	for _, r := range found {
		r.state = appendNew(r.state, filepath.Join(r.path, "sqlite"), r.path)
	}
	return found, looked, problems
}

func isFolder(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// rootOf returns the home that a rollout's path lies in.
func rootOf(rollout string) string {
	day := filepath.Dir(rollout)
	if filepath.Base(day) == "archived_sessions" {
		return filepath.Dir(day)
	}
	sessions := filepath.Dir(filepath.Dir(filepath.Dir(day)))
	if filepath.Base(sessions) != "sessions" {
		return ""
	}
	return filepath.Dir(sessions)
}

// lockOwners returns, by thread, the pid that holds its writer lock. A lock file
// that nobody holds is left behind by a process that was killed, and says
// nothing.
func (a *Adapter) lockOwners(r *root) (map[string]int, []error) {
	dir := filepath.Join(r.path, lockFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || len(entries) == 0 && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, []error{adapters.Unreadable(dir, err)}
	}
	held, err := a.table.FileLocks()
	if err != nil {
		if errors.Is(err, proc.ErrUnsupported) {
			return nil, nil
		}
		return nil, []error{adapters.Unreadable("file locks", err)}
	}
	owners := map[string]int{}
	for _, e := range entries {
		id := e.Name()[:max(0, len(e.Name())-len(".lock"))]
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !isUUID(id) {
			continue
		}
		if pid := held[fileID(info)]; pid != 0 {
			owners[id] = pid
		}
	}
	return owners, nil
}

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
