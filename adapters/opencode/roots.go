package opencode

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

// root is one data folder of OpenCode.
type root struct {
	product   *Product
	path      string   // links resolved
	databases []string // existing ones
	missing   []string // databases that a process names and has not created yet
	hosts     []*host  // those known to use it
}

// homeSearch collects the data folders in use.
type homeSearch struct {
	kit.Roots
	product *Product
	found   []*root
}

// roots returns every data folder in use: that of the user's environment, those that the user named, those of the
// environments of live processes, those whose database or log live processes have open,
// and those that processes used in the last 24 hours. It adds the places that it tried,
// and their problems, to answer.
func (a *Adapter) roots(c census, now time.Time, answer *kit.Answer) []*root {
	all := homeSearch{Roots: kit.Roots{Answer: answer}, product: a.product}
	own := all.add(a.ownHome())
	if own != nil {
		answer.Problem(own.use(a.Env(a.product.Variable + "DB")))
	}
	for _, path := range a.Named() {
		all.add(path)
	}
	var uses []string
	for _, h := range c.hosts {
		r := all.rootOf(h, own, now)
		if r == nil {
			continue
		}
		r.hosts = append(r.hosts, h)
		answer.Problem(r.use(h.db))
		if r != own || h.db != a.Env(a.product.Variable+"DB") {
			uses = append(uses, r.path+useMark+h.db)
		}
	}
	for _, use := range a.Recent.Use(uses, now) {
		folder, database, _ := strings.Cut(use, useMark)
		if !all.Answers(folder) {
			continue
		}
		if _, err := os.Stat(folder); err != nil {
			continue
		}
		if r := all.add(folder); r != nil {
			answer.Problem(r.use(database))
		}
	}
	var current []string
	for _, r := range all.found {
		current = append(current, r.path)
	}
	a.Current.Set(current)
	for _, r := range all.found {
		answer.Problem(r.glob())
		answer.LookedIn(r.missing...)
	}
	return all.found
}

// ownHome returns the data folder of the user's environment.
func (a *Adapter) ownHome() string {
	data := a.Env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(a.Home, ".local", "share")
	}
	return filepath.Join(data, a.product.HomeFolder)
}

// useMark separates a data folder from the database that a process uses with it: the
// one that OPENCODE_DB names, or nothing.
const useMark = "\x00"

// add returns the data folder at a path, nil if there is none.
func (all *homeSearch) add(path string) *root {
	target, _ := all.Folder(path)
	if target == "" {
		return nil
	}
	for _, r := range all.found {
		if r.path == target {
			return r
		}
	}
	r := &root{path: target, product: all.product}
	all.found = append(all.found, r)
	return r
}

// rootOf returns the data folder that a process uses, and nil as long as the process has not
// created one. A process whose folders don't exist here, such as a container's, may use the
// user's own folder through a mount.
func (all *homeSearch) rootOf(h *host, own *root, now time.Time) *root {
	for _, path := range h.dataFolders() {
		if !all.Answers(path) {
			h.unresponsive = path
			return nil
		}
		if r := all.add(path); r != nil {
			h.knownHome = true
			return r
		}
	}
	base := cmp.Or(h.data, h.Home)
	if base != "" && !all.Answers(base) {
		h.unresponsive = base
		return nil
	}
	if _, err := os.Stat(base); base != "" && err == nil && now.Sub(h.Started) < firstMessageDelay {
		return nil
	}
	return own
}

// dataFolders returns the folders that a process can be using, the most certain first.
// The names of another mount namespace, such as a container's, don't exist here.
func (h *host) dataFolders() []string {
	var list []string
	for _, f := range h.files {
		dir, name := filepath.Split(f)
		dir = filepath.Clean(dir)
		switch {
		case f == h.db: // OPENCODE_DB names it: the log and the files are elsewhere
		case h.product.isDatabase(name):
			list = append(list, dir)
		case filepath.Base(dir) == "log" && strings.HasSuffix(name, ".log"):
			list = append(list, filepath.Dir(dir))
		}
	}
	slices.Sort(list)
	if filepath.IsAbs(h.data) {
		list = append(list, filepath.Join(h.data, h.product.HomeFolder))
	} else if filepath.IsAbs(h.Home) {
		list = append(list, filepath.Join(h.Home, ".local", "share", h.product.HomeFolder))
	}
	return list
}

// surelyUses reports whether a process keeps its sessions in a root: it has a file of the root
// open, which may have been removed since. The
// environment alone may name a folder that a container has under the same path. It is used only
// if open files can't be seen. A process that has the log open but no database is the client of a
// service (2.0), unless it is so old that it has a log and no database (1.1).
func (h *host) surelyUses(r *root) bool {
	if h.filesHidden {
		return h.knownHome
	}
	inRoot := func(f string) bool {
		return slices.Contains(r.databases, f) || h.old && strings.HasPrefix(f, r.path+string(filepath.Separator))
	}
	if slices.ContainsFunc(h.files, inRoot) {
		return true
	}
	for f, descriptor := range h.removed {
		if inRoot(f) && onOneDevice(descriptor, r.path) {
			return true
		}
	}
	return false
}

// onOneDevice reports whether two files are on the same file system. The files of a container
// are on another one than those of the host.
func onOneDevice(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && agentfile.StampOf(a, infoA).Device == agentfile.StampOf(b, infoB).Device
}

// use adds the database that OPENCODE_DB names. A relative name is relative to the data
// folder (by the source code of 1.18.33).
func (r *root) use(name string) error {
	if name == "" || name == ":memory:" {
		return nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.path, name)
	}
	if !bounded.Answers(name) {
		return adapters.Unresponsive(name)
	}
	fi, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.missing = kit.AppendNew(r.missing, name)
		return nil
	case err != nil:
		return adapters.Unreadable(name, err)
	case !fi.Mode().IsRegular():
		return adapters.Unreadable(name, errors.New(r.product.Variable+"DB names no file"))
	}
	r.addDatabase(name)
	return nil
}

func (r *root) addDatabase(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() { // else the problem names the link
		if target, err := agentproc.EvalSymlinks(path); err == nil {
			path = target
		}
	}
	r.databases = kit.AppendNew(r.databases, path)
}

// glob adds the databases in the folder.
func (r *root) glob() error {
	entries, err := os.ReadDir(r.path)
	for _, e := range entries {
		if r.product.isDatabase(e.Name()) {
			r.addDatabase(filepath.Join(r.path, e.Name()))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return adapters.Unreadable(r.path, err)
	}
	return nil
}

// logFolder returns the folder in which every version writes its log.
func (r *root) logFolder() string { return filepath.Join(r.path, "log") }
