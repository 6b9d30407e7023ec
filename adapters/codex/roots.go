package codex

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// lockFolder is the folder in which 0.169 keeps one lock file for each thread that is
// loaded.
const lockFolder = "thread-writer-locks"

// root is one Codex home.
type root struct {
	path  string // links resolved
	info  fs.FileInfo
	state []string
	host  []*host // those known to use it

	candidates []*found // the rollouts that the query asks for
	late, all  int      // rollouts that were not examined in time, and all
}

// homeSearch collects the Codex homes in use.
type homeSearch struct {
	kit.Roots
	found []*root
	state string // the folder of the databases that the user's environment names
}

// add adds the home at a path and returns it; nil when there is none.
func (f *homeSearch) add(path string) *root {
	target, info := f.Folder(path)
	if target == "" {
		return nil
	}
	for _, r := range f.found {
		// Each process of a container has another name for the container's home.
		if r.path == target || os.SameFile(r.info, info) {
			return r
		}
	}
	r := &root{path: target, info: info, state: kit.AppendNew(nil, f.state)}
	f.found = append(f.found, r)
	return r
}

// addOf adds the homes that a Codex process uses: the one that it was started with, and
// those that contain its open rollouts.
func (f *homeSearch) addOf(h *host) {
	var uses []*root
	switch users := filepath.Join(h.user, ".codex"); {
	case filepath.IsAbs(h.home):
		uses = append(uses, f.add(h.home))
	case filepath.IsAbs(users) && !f.Answers(users):
		uses = append(uses, nil)
	case filepath.IsAbs(users) && isFolder(users): // it does not exist here if it is a name inside a container
		uses = append(uses, f.add(users))
	}
	for rollout := range maps.Clone(h.rollouts) {
		path := rootOf(rollout)
		if path == "" {
			continue
		}
		r := f.add(path)
		uses = append(uses, r)
		if r != nil { // known by the name of its home that is listed
			h.rollouts[r.path+strings.TrimPrefix(rollout, path)] = true
		}
	}
	if len(uses) == 0 && len(f.found) > 0 && h.user == "" {
		uses = append(uses, f.found[0])
	}
	if !slices.ContainsFunc(uses, func(r *root) bool { return r != nil }) {
		h.unresponsive = f.unresponsiveHomeOf(h)
	}
	for _, r := range uses {
		if r != nil && !slices.Contains(r.host, h) {
			r.host = append(r.host, h)
			r.state = kit.AppendNew(r.state, append(h.state, h.stateDir)...)
		}
	}
}

// unresponsiveHomeOf returns the home of a process where the file system does not answer.
func (f *homeSearch) unresponsiveHomeOf(h *host) string {
	for _, path := range []string{h.home, filepath.Join(h.user, ".codex")} {
		if f.Unresponsive(path) {
			return path
		}
	}
	return ""
}

// roots returns every Codex home in use: that of the user's environment, those that the user named, those that
// live Codex processes were started with, and those that contain their open rollouts;
// also those that processes used within the last 24 hours.
func (a *Adapter) roots(c agentProcesses, answer *kit.Answer) []*root {
	f := homeSearch{Roots: kit.Roots{Answer: answer}, state: a.Env("CODEX_SQLITE_HOME")}
	own := f.add(a.ownHome())
	for _, path := range a.Base.Named() {
		f.add(path)
	}
	for _, h := range c.hosts {
		f.addOf(h)
	}
	var used []string
	for _, r := range f.found {
		if len(r.host) > 0 && r != own {
			used = append(used, r.path)
		}
	}
	for _, path := range a.Recent.Use(used, a.Now()) {
		if !slices.Contains(used, path) && f.Answers(path) && isFolder(path) {
			f.add(path)
		}
	}
	a.Current.Set(f.paths())
	for _, r := range f.found {
		r.state = slices.DeleteFunc(r.state, func(path string) bool { return path != "" && !f.Answers(path) })
		r.state = kit.AppendNew(r.state, filepath.Join(r.path, "sqlite"), r.path)
	}
	return f.found
}

// paths returns the folders of the homes that were found.
func (f *homeSearch) paths() (paths []string) {
	for _, r := range f.found {
		paths = append(paths, r.path)
	}
	return paths
}

// ownHome returns the home that the user's environment names.
func (a *Adapter) ownHome() string {
	return cmp.Or(a.Env("CODEX_HOME"), filepath.Join(a.Home, ".codex"))
}

func isFolder(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// rootOf returns the home that a rollout is in.
func rootOf(rollout string) string {
	day := filepath.Dir(rollout)
	if filepath.Base(day) == archive {
		return filepath.Dir(day)
	}
	sessions := filepath.Dir(filepath.Dir(filepath.Dir(day)))
	if filepath.Base(sessions) != "sessions" {
		return ""
	}
	return filepath.Dir(sessions)
}

// lockOwners returns the pid that holds the writer lock of each thread. A lock file without a
// holder was left behind by a process that was killed, and shows nothing. Where the system does
// not list locks, the owner is who has the file open.
func (d *discovery) lockOwners(r *root) (map[string]int, []error) {
	dir := filepath.Join(r.path, lockFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || len(entries) == 0 && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, []error{adapters.Unreadable(dir, err)}
	}
	held, err := d.adapter.Table.FileLocks()
	asks := errors.Is(err, proc.ErrUnsupported)
	if err != nil && !asks {
		return nil, []error{adapters.Unreadable("file locks", err)}
	}
	owners := map[string]int{}
	for _, e := range entries {
		id := e.Name()[:max(0, len(e.Name())-len(".lock"))]
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil || !kit.Is(id) {
			continue
		}
		if asks {
			holders, hosts, _ := d.holders(path) // else the process may host the thread: it is asked again for the rollout
			for _, h := range hosts {
				h.locks[id] = true
			}
			if len(holders) > 0 {
				owners[id] = holders[0].PID
			}
			continue
		}
		file, _ := proc.FileIDOf(info)
		if pid := held[file]; pid != 0 {
			owners[id] = pid
		}
	}
	return owners, nil
}
