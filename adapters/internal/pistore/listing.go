package pistore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// file is a session's file as the folder shows it.
type file struct {
	path, dir  string
	root       string
	label      string    // the id in the name: all of it, or its first 8 characters
	begun      time.Time // according to the name
	shortLabel bool      // label has only 8 characters, as in names of pi_agent_rust
	sqlite     bool
	info       fs.FileInfo
	err        error // why it could not be examined
}

// sessionName is "<time>_<id>", with the time's colons and dots as dashes.
var (
	sessionName = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)[-.](\d+)Z_(.+)$`)
	shortID     = regexp.MustCompile(`^[0-9a-f]{8}$`)
	wholeID     = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	randomID    = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

// list lists one root: <folder of a working directory>/<session> and <session>. Folders
// and files may be symbolic links; no deeper folder is read, so loops of links don't
// matter.
func (d *discovery) list(r root) {
	entries, err := os.ReadDir(r.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.storeProblems = append(d.storeProblems, adapters.Unreadable(r.path, err))
	}
	var mu sync.Mutex
	agentfile.Parallel(len(entries), func(i int) {
		name := entries[i].Name()
		t := entries[i].Type()
		switch {
		case t.IsDir(), t&fs.ModeSymlink != 0 && !isSession(name):
			if strings.HasSuffix(name, ".v2") || strings.HasSuffix(name, ".blobs") {
				return // indexes and attachments of pi_agent_rust
			}
			dir := filepath.Join(r.path, name)
			found, bad, err := listFolder(r.path, dir)
			mu.Lock()
			defer mu.Unlock()
			d.files = append(d.files, found...)
			if err != nil {
				d.storeProblems = append(d.storeProblems, adapters.Unreadable(dir, err))
			}
			for _, b := range bad {
				d.noteUnreadable(b)
			}
		case isSession(name):
			f, err := statFile(r.path, r.path, name)
			mu.Lock()
			defer mu.Unlock()
			if f.err = err; err != nil {
				d.noteUnreadable(f)
				return
			}
			d.files = append(d.files, f)
		case name == "session-index.sqlite":
			mu.Lock()
			defer mu.Unlock()
			d.hasRust = true
		}
	})
	for i := range d.files {
		d.hasRust = d.hasRust || d.files[i].shortLabel || d.files[i].sqlite
	}
}

// listLive lists the folders in which live processes have their sessions, and the
// files that they had last.
func (d *discovery) listLive() {
	folders := map[string]bool{}
	folder := func(root, dir string) {
		if folders[dir] {
			return
		}
		folders[dir] = true
		found, bad, err := listFolder(root, dir)
		d.files = append(d.files, found...)
		if err != nil {
			d.storeProblems = append(d.storeProblems, adapters.Unreadable(dir, err))
		}
		for _, b := range bad {
			d.noteUnreadable(b)
		}
	}
	for _, p := range d.processes {
		for _, r := range d.roots {
			if p.uses(r.path) {
				folder(r.path, filepath.Join(r.path, folderName(p.cwd)))
				if p.oldCWD != "" {
					folder(r.path, filepath.Join(r.path, folderName(p.oldCWD)))
				}
				folder(r.path, r.path)
			}
		}
		d.store.mu.Lock()
		had := d.store.lastSessions[p.Identity].file
		d.store.mu.Unlock()
		if had.path != "" {
			folder(had.root, had.dir)
		}
	}
}

func isSession(name string) bool {
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".sqlite") && name != "session-index.sqlite"
}

// noteUnreadable adds the problem of a file that exists and can't be examined.
func (d *discovery) noteUnreadable(f file) {
	if f.guess() == d.store.name && !errors.Is(f.err, fs.ErrNotExist) && !errors.Is(f.err, agentfile.ErrNotRegular) {
		d.answer.Problem(adapters.Unreadable(f.path, f.err))
	}
}

func listFolder(root, dir string) (files, bad []file, problem error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if info, cause := os.Stat(dir); cause != nil || info.IsDir() { // else it is a link to something else
			problem = err
		}
	}
	for _, e := range entries {
		if e.IsDir() || !isSession(e.Name()) {
			continue
		}
		f, err := statFile(root, dir, e.Name())
		if f.err = err; err != nil {
			bad = append(bad, f)
			continue
		}
		files = append(files, f)
	}
	return files, bad, problem
}

// statFile examines a file. The error is agentfile.ErrNotRegular for anything but a
// regular file.
func statFile(root, dir, name string) (file, error) {
	f := file{path: filepath.Join(dir, name), dir: dir, root: root}
	stem, plain := strings.CutSuffix(name, ".jsonl")
	if !plain {
		stem, f.sqlite = strings.TrimSuffix(name, ".sqlite"), true
	}
	if m := sessionName.FindStringSubmatch(stem); m != nil {
		f.label, f.shortLabel = m[3], shortID.MatchString(m[3])
		f.begun, _ = time.Parse("2006-01-02T15-04-05.999999999", m[1]+"."+m[2])
	}
	var err error
	if f.info, err = os.Stat(f.path); err == nil && !f.info.Mode().IsRegular() {
		err = agentfile.ErrNotRegular
	}
	return f, err
}

// mayHaveID reports whether the file can be that of a session with this id.
func (f *file) mayHaveID(id string) bool {
	return f.label == "" || f.label == id || f.shortLabel && strings.HasPrefix(id, f.label)
}

// folderName returns the name of the folder for a working directory.
func folderName(cwd string) string {
	cwd = strings.TrimLeft(cwd, `/\`)
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(cwd) + "--"
}
