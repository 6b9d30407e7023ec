package copilot

import (
	"os"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

// homeVariable is the variable that names another home.
const homeVariable = "COPILOT_HOME"

// ownHome returns the home of the user that runs Rollcall.
func (a *Adapter) ownHome() string {
	if dir := a.env(homeVariable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(a.home, ".copilot")
}

// findRoots finds the homes to look in: the user's own, those that the user named, and those that processes have used within
// 24 hours. Each is found once, whatever symbolic links lead to it.
func (d *discovery) findRoots() {
	d.addRoot(d.ownHome())
	for _, dir := range d.named() {
		d.addRoot(dir)
	}
	var named []string
	for _, p := range d.processes {
		if p.home != "" && !slices.Contains(d.roots, agentproc.RealPath(p.home)) {
			named = append(named, p.home)
		}
	}
	for _, dir := range d.homes.Use(named, d.now) {
		if !d.answers(dir) {
			continue
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() && (agentfile.OwnedByUser(info) || os.Geteuid() == 0) {
			d.addRoot(dir)
		}
	}
	d.current.Set(d.roots)
}

func (d *discovery) addRoot(path string) {
	d.answer.LookedIn(store(path))
	if path = agentproc.RealPath(path); d.answers(path) {
		d.roots = kit.AppendNew(d.roots, path)
	}
}

// answers reports whether the file system of a folder answers, and adds the problem when it does not.
func (d *discovery) answers(path string) bool {
	if bounded.Answers(path) {
		return true
	}
	if !slices.Contains(d.unresponsive, path) {
		d.unresponsive = append(d.unresponsive, path)
		d.answer.Problem(adapters.Unresponsive(path))
	}
	return false
}

// absent reports whether nothing shows that Copilot is installed: neither a home nor a process.
func (d *discovery) absent() bool {
	return d.tableErr == nil && len(d.processes) == 0 && len(d.unresponsive) == 0 && !slices.ContainsFunc(d.roots, mayExist)
}

func mayExist(path string) bool {
	_, err := os.Stat(path)
	return !os.IsNotExist(err)
}

// maxWatched is the largest number of folders of sessions that are watched.
const maxWatched = 24

// watchPaths returns the folders in which sessions appear, and those of running sessions.
func (d *discovery) watchPaths() []string {
	var watch []string
	for _, root := range d.roots {
		for _, dir := range []string{store(root), root, filepath.Dir(root)} { // where it will appear
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				watch = kit.AppendNew(watch, dir)
				break
			}
		}
	}
	live := 0
	for _, s := range d.sessions {
		if live++; s.owner != nil && live <= maxWatched {
			watch = kit.AppendNew(watch, s.dir)
		}
	}
	for at := range d.owners { // those that have no prompt yet
		if live++; live <= maxWatched {
			watch = kit.AppendNew(watch, at.dir())
		}
	}
	return watch
}
