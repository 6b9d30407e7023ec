package cline

import (
	"cmp"
	"path/filepath"
	"slices"

	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

// The variables that name places of Cline's.
const (
	dirVariable       = "CLINE_DIR"
	dataVariable      = "CLINE_DATA_DIR"
	sessionsVariable  = "CLINE_SESSION_DATA_DIR"
	databasesVariable = "CLINE_DB_DATA_DIR"
)

// root is one data folder of Cline, with the folders in which it keeps the sessions and the databases.
type root struct {
	data, sessions, databases string
	hidden                    bool // a session in it could not be read
}

// rootOf returns the root that the variables of an environment name. home is the user's, and empty where it is not known.
func rootOf(env func(name string) string, home string) root {
	path := func(name, otherwise string) string {
		if value := env(name); filepath.IsAbs(value) {
			return filepath.Clean(value)
		}
		return otherwise
	}
	data := ""
	if filepath.IsAbs(home) {
		data = filepath.Join(home, ".cline", "data")
	}
	if dir := path(dirVariable, ""); dir != "" {
		data = filepath.Join(dir, "data")
	}
	return root{data: path(dataVariable, data), sessions: path(sessionsVariable, ""), databases: path(databasesVariable, "")}
}

// dataIn returns the data folder that the user means by a path: that of CLINE_DIR or of CLINE_DATA_DIR.
func dataIn(path string) string {
	if inner := filepath.Join(path, "data"); path != "" && bounded.Answers(path) && kit.MayExist(inner) {
		return inner
	}
	return path
}

// findRoots finds the roots of the user, of live processes, and in the other homes.
func (d *discovery) findRoots() {
	own := rootOf(d.Env, d.Home)
	var used []string
	for _, p := range d.processes {
		data, known := d.homes.OfProcess(p.folders.data)
		switch {
		case known:
			used = append(used, data)
		case !d.homes.Unresponsive(data):
			p.folders = own // those of a process of another mount namespace have no meaning here
		}
	}
	d.homes.Find(d.Base, own.data, used, d.now)
	d.root(own)
	for _, p := range d.processes {
		p.root = d.root(p.folders)
	}
	for _, path := range d.homes.Paths {
		d.root(root{data: path})
	}
}

// root returns the root with these folders, each once; nil if its file system does not answer.
func (d *discovery) root(r root) *root {
	r.sessions = cmp.Or(r.sessions, filepath.Join(r.data, "sessions"))
	d.answer.LookedIn(r.sessions)
	r.databases = cmp.Or(r.databases, filepath.Join(r.data, "db"))
	for _, path := range []*string{&r.data, &r.sessions, &r.databases} {
		if !d.homes.Answers(*path) {
			return nil
		}
		*path = agentproc.RealPath(*path)
	}
	if i := slices.IndexFunc(d.roots, func(known *root) bool { return known.sessions == r.sessions }); i >= 0 {
		return d.roots[i]
	}
	d.roots = append(d.roots, &r)
	return &r
}
