package cline

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

// root is one data folder of Cline. Links are resolved.
type root struct {
	data, sessions, databases string
}

// environment has the variables that name a place of Cline's, or "" for each.
type environment func(name string) string

// dataFolders returns the data folder that a process with this environment uses, and the folders in which it keeps the
// sessions and the databases. home is empty where it is not known.
func dataFolders(env environment, home string) root {
	dir := env("CLINE_DIR")
	if !filepath.IsAbs(dir) && filepath.IsAbs(home) {
		dir = filepath.Join(home, ".cline")
	}
	r := root{data: env("CLINE_DATA_DIR")}
	if !filepath.IsAbs(r.data) {
		if !filepath.IsAbs(dir) {
			return root{}
		}
		r.data = filepath.Join(dir, "data")
	}
	r.sessions, r.databases = absolute(env("CLINE_SESSION_DATA_DIR")), absolute(env("CLINE_DB_DATA_DIR"))
	return r.complete()
}

func (r root) complete() root {
	r.sessions = cmp.Or(r.sessions, filepath.Join(r.data, "sessions"))
	r.databases = cmp.Or(r.databases, filepath.Join(r.data, "db"))
	return r
}

func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}

// dataIn returns the data folder that the user means by a path: that of CLINE_DIR or of CLINE_DATA_DIR.
func dataIn(path string) string {
	if inner := filepath.Join(path, "data"); path != "" && bounded.Answers(path) && exists(inner) {
		return inner
	}
	return path
}

// watched returns the folders in which something changes when a session begins or a status changes.
func (r *root) watched() []string { return []string{r.sessions, r.databases, r.data} }

// hub returns the file in which the hub of the data folder describes itself.
func (r *root) hub() string { return filepath.Join(r.data, "locks", "hub", "production.json") }

// separator is between the folders of a root that is kept for later processes.
const separator = "\x00"

// roots returns every data folder in use: that of the user's environment, those that the user named, those of
// live processes, and those that processes used in the last 24 hours. It sets the root of each process.
func (a *Adapter) roots(processes []*process, answer *kit.Answer) []*root {
	s := rootSearch{answer: answer}
	own := s.add(dataFolders(a.env, a.home))
	for _, path := range a.named() {
		s.add(root{data: dataIn(path)}.complete())
	}
	var uses []string
	for _, p := range processes {
		switch {
		case p.folders.data == "" || s.isOwn(p.folders, own):
			p.root = own
		case !bounded.Answers(p.folders.data):
			s.add(p.folders)
			p.unresponsive = p.folders.data
		case !exists(p.folders.data) && !exists(filepath.Dir(filepath.Dir(p.folders.data))): // a name of another mount namespace
			p.root = own
		default:
			p.root = s.add(p.folders)
			uses = append(uses, p.folders.data+separator+p.folders.sessions+separator+p.folders.databases)
		}
	}
	for _, use := range a.homes.Use(uses, a.now()) {
		if parts := strings.Split(use, separator); len(parts) == 3 && bounded.Answers(parts[0]) && isOurs(parts[0]) {
			s.add(root{data: parts[0], sessions: parts[1], databases: parts[2]})
		}
	}
	var current []string
	for _, r := range s.found {
		current = append(current, r.data)
	}
	a.current.Set(current)
	return s.found
}

// rootSearch collects data folders.
type rootSearch struct {
	answer       *kit.Answer
	found        []*root
	unresponsive []string
}

// add returns the root with these folders; nil if its file system does not answer.
func (s *rootSearch) add(r root) *root {
	s.answer.LookedIn(r.sessions)
	for _, path := range []*string{&r.data, &r.sessions, &r.databases} {
		if !bounded.Answers(*path) {
			if !slices.Contains(s.unresponsive, *path) {
				s.unresponsive = append(s.unresponsive, *path)
				s.answer.Problem(adapters.Unresponsive(*path))
			}
			return nil
		}
		*path = agentproc.RealPath(*path)
	}
	for _, known := range s.found {
		if known.sessions == r.sessions {
			return known
		}
	}
	s.found = append(s.found, &r)
	return &r
}

// isOwn reports whether folders are those of the user's own root.
func (s *rootSearch) isOwn(folders root, own *root) bool {
	return own != nil && bounded.Answers(folders.sessions) && agentproc.RealPath(folders.sessions) == own.sessions
}

// isOurs reports whether a folder belongs to this user. Root reads the folders of all users.
func isOurs(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && (agentfile.OwnedByUser(info) || os.Geteuid() == 0)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !os.IsNotExist(err)
}
