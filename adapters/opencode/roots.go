package opencode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
)

// root is one data folder of OpenCode.
type root struct {
	path      string   // links resolved
	databases []string // existing ones
	hosts     []*host  // those known to use it
}

// roots finds every data folder in use: that of the user's environment, those of
// the environments of live processes, and those whose database or log they have
// open. looked names all that were tried.
func (a *Adapter) roots(c census) (found []*root, looked []string, problems []error) {
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
			problems = append(problems, adapters.Unreadable(path, errors.New("not a folder")))
			return nil
		}
		found = append(found, &root{path: target})
		return found[len(found)-1]
	}
	data := a.env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(a.home, ".local", "share")
	}
	own := add(filepath.Join(data, "opencode"))
	if own != nil {
		problems = append(problems, own.use(a.env("OPENCODE_DB"))...)
	}
	for _, h := range c.hosts {
		r := own
		for _, path := range h.dataFolders() {
			if to := add(path); to != nil {
				r = to
				break
			}
		}
		if r != nil {
			a.memory.root(r.path)
			r.hosts = append(r.hosts, h)
			problems = append(problems, r.use(h.db)...)
		}
	}
	for _, path := range a.memory.allRoots() {
		if _, err := os.Stat(path); err == nil {
			add(path)
		}
	}
	for _, r := range found {
		problems = append(problems, r.glob()...)
	}
	return found, looked, problems
}

// dataFolders are the folders that a process can be using, the surest first.
// Names of another mount namespace, as a container's, don't exist here.
func (h *host) dataFolders() []string {
	var list []string
	for _, f := range h.files {
		dir, name := filepath.Split(f)
		dir = filepath.Clean(dir)
		switch {
		case isDatabase(name):
			list = append(list, dir)
		case filepath.Base(dir) == "log" && strings.HasSuffix(name, ".log"):
			list = append(list, filepath.Dir(dir))
		}
	}
	slices.Sort(list)
	if filepath.IsAbs(h.data) {
		list = append(list, filepath.Join(h.data, "opencode"))
	} else if filepath.IsAbs(h.home) {
		list = append(list, filepath.Join(h.home, ".local", "share", "opencode"))
	}
	return list
}

// isDatabase knows the databases of all channels: opencode.db, opencode-dev.db.
func isDatabase(name string) bool {
	return strings.HasPrefix(name, "opencode") && strings.HasSuffix(name, ".db")
}

// use adds the database that OPENCODE_DB names. A relative name is one in the
// data folder (read in 1.18.33's source).
func (r *root) use(name string) []error {
	if name == "" || name == ":memory:" {
		return nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.path, name)
	}
	fi, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []error{adapters.Unreadable(name, err)}
	case !fi.Mode().IsRegular():
		return []error{adapters.Unreadable(name, fmt.Errorf("OPENCODE_DB names no file"))}
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	r.databases = appendNew(r.databases, name)
	return nil
}

// glob adds the databases in the folder.
func (r *root) glob() []error {
	entries, err := os.ReadDir(r.path)
	for _, e := range entries {
		if !isDatabase(e.Name()) || e.IsDir() {
			continue
		}
		path := filepath.Join(r.path, e.Name())
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		r.databases = appendNew(r.databases, path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []error{adapters.Unreadable(r.path, err)}
	}
	return nil
}

// logFolder is where every version writes its log.
func (r *root) logFolder() string { return filepath.Join(r.path, "log") }

// storage is the JSON store of versions up to 1.1.
func (r *root) storage() string { return filepath.Join(r.path, "storage") }
