package pistore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
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

// list lists all roots.
func (d *discovery) list() {
	for _, r := range d.roots.Paths {
		d.listRoot(r)
	}
}

// listRoot lists one root: <folder of a working directory>/<session> and <session>. Folders
// and files may be symbolic links; no deeper folder is read, so loops of links don't
// matter. The folders of live processes may take all of the time.
func (d *discovery) listRoot(root string) {
	ctx, cancel := kit.Part(d.ctx, 3)
	defer cancel()
	entries, err := agentfile.Entries(ctx, root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.storeProblems = append(d.storeProblems, adapters.AsProblem(root, err))
	}
	live := d.liveFolders()
	var mu sync.Mutex
	late := 0
	folders := 0
	unlisted := 0
	agentfile.Parallel(len(entries), func(i int) {
		name := entries[i].Name()
		found := listing{ctx: ctx}
		isFolder := entries[i].IsDir() || !isSession(name) && agentfile.MayBeFolder(root, entries[i])
		switch {
		case isFolder:
			if strings.HasSuffix(name, ".v2") || strings.HasSuffix(name, ".blobs") {
				return // indexes and attachments of pi_agent_rust
			}
			if live[name] {
				found.ctx = d.ctx
			}
			found.folder(root, filepath.Join(root, name))
		case isSession(name):
			found.add(root, root, name)
		}
		mu.Lock()
		defer mu.Unlock()
		if isFolder {
			folders++
		}
		late += found.late
		if found.unlisted {
			unlisted++
		}
		d.hasRust = d.hasRust || name == "session-index.sqlite"
		d.take(&found)
	})
	if err := kit.NotListed(root, unlisted, folders); err != nil {
		d.storeProblems = append(d.storeProblems, err)
	}
	d.isLate(root, late, late)
	d.partial = d.partial || late+unlisted > 0 || adapters.IsOutOfTime(err)
	for i := range d.files {
		d.hasRust = d.hasRust || d.files[i].shortLabel || d.files[i].sqlite
	}
}

// isLate notes that late of n files below root were not examined or read in time.
func (d *discovery) isLate(root string, late, n int) {
	d.late, d.found = d.late+late, d.found+n
	if late > 0 {
		d.lateIn = root
	}
}

// liveFolders returns the names of the folders in which live processes have their sessions.
func (d *discovery) liveFolders() map[string]bool {
	live := map[string]bool{}
	for _, p := range d.processes {
		live[folderName(p.cwd)] = true
		if p.oldCWD != "" {
			live[folderName(p.oldCWD)] = true
		}
	}
	return live
}

func isSession(name string) bool {
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".sqlite") && name != "session-index.sqlite"
}

// listing holds the files that were found in a folder.
type listing struct {
	ctx      context.Context
	late     int  // files that were not examined before ctx ended
	unlisted bool // the folder was not listed before that
	files    []file
	bad      []file // those that exist and could not be examined
	problems []error
}

// add examines a file and adds it.
func (l *listing) add(root, dir, name string) {
	if agentfile.Ended(l.ctx) != nil {
		l.late++
		return
	}
	f, err := statFile(root, dir, name)
	f.err = err
	if err != nil {
		l.bad = append(l.bad, f)
	} else {
		l.files = append(l.files, f)
	}
}

// take adds a listing, and the problems of files of the agent.
func (d *discovery) take(l *listing) {
	d.files = append(d.files, l.files...)
	d.storeProblems = append(d.storeProblems, l.problems...)
	for _, f := range l.bad {
		if f.guess() == d.store.Name() && !errors.Is(f.err, fs.ErrNotExist) {
			d.answer.Problem(adapters.Unreadable(f.path, f.err))
		}
	}
}

// folder adds the files in a folder.
func (l *listing) folder(root, dir string) {
	entries, err := agentfile.Entries(l.ctx, dir)
	l.unlisted = adapters.IsOutOfTime(err)
	if err != nil && !l.unlisted && !errors.Is(err, fs.ErrNotExist) {
		l.problems = []error{adapters.Unreadable(dir, err)}
	}
	for _, e := range slices.Backward(entries) { // the names begin with a time
		if isSession(e.Name()) {
			l.add(root, dir, e.Name())
		}
	}
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
	f.info, err = os.Stat(f.path)
	if err == nil {
		err = agentfile.CheckRegular(f.info)
	}
	return f, err
}

// mayHaveID reports whether the file can be that of a session with this id.
func (f *file) mayHaveID(id string) bool {
	return f.label == "" || f.label == id || f.shortLabel && strings.HasPrefix(id, f.label)
}

// folderName returns the name of the folder for a working directory.
func folderName(cwd string) string {
	return "--" + toName.Replace(strings.TrimLeft(cwd, `/\`)) + "--"
}

var toName = strings.NewReplacer("/", "-", `\`, "-", ":", "-")
