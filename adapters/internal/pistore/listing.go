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
)

// file is a session's file as the folder shows it.
type file struct {
	path, dir string
	root      string
	label     string    // what the name says of the id: all of it, or its first 8 characters
	begun     time.Time // as the name says
	short     bool      // the latter: pi_agent_rust names files so
	sqlite    bool
	info      fs.FileInfo
	err       error // why it could not be looked at
}

// sessionName is "<time>_<id>", with the time's colons and dots as dashes.
var (
	sessionName = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)[-.](\d+)Z_(.+)$`)
	shortID     = regexp.MustCompile(`^[0-9a-f]{8}$`)
	wholeID     = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	randomID    = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

// list lists one root: <folder of a working directory>/<session> and <session>.
// Folders and files may be symbolic links; nothing deeper is looked at, so loops
// of links don't matter.
func (d *discovery) list(r root) {
	entries, err := os.ReadDir(r.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.shared = append(d.shared, adapters.Unreadable(r.path, err))
	}
	var mu sync.Mutex
	parallel(len(entries), func(i int) {
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
				d.shared = append(d.shared, adapters.Unreadable(dir, err))
			}
			for _, b := range bad {
				d.unstat(b)
			}
		case isSession(name):
			f, err := statFile(r.path, r.path, name)
			mu.Lock()
			defer mu.Unlock()
			if f.err = err; err != nil {
				d.unstat(f)
				return
			}
			d.files = append(d.files, f)
		case name == "session-index.sqlite":
			mu.Lock()
			defer mu.Unlock()
			d.rust = true
		}
	})
	for i := range d.files {
		d.rust = d.rust || d.files[i].short || d.files[i].sqlite
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
			d.shared = append(d.shared, adapters.Unreadable(dir, err))
		}
		for _, b := range bad {
			d.unstat(b)
		}
	}
	for _, p := range d.processes {
		for _, r := range d.roots {
			if p.uses(r.path) {
				folder(r.path, filepath.Join(r.path, folderName(p.cwd)))
				if p.was != "" {
					folder(r.path, filepath.Join(r.path, folderName(p.was)))
				}
				folder(r.path, r.path)
			}
		}
		d.mu.Lock()
		had := d.held[p.Identity].file
		d.mu.Unlock()
		if had.path != "" {
			folder(had.root, had.dir)
		}
	}
}

func isSession(name string) bool {
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".sqlite") && name != "session-index.sqlite"
}

// unstat tells of a file that is there and can't even be looked at.
func (d *discovery) unstat(f file) {
	if f.guess() == d.name && !errors.Is(f.err, fs.ErrNotExist) && !errors.Is(f.err, errNotRegular) {
		d.problem(adapters.Unreadable(f.path, f.err))
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

func statFile(root, dir, name string) (file, error) {
	f := file{path: filepath.Join(dir, name), dir: dir, root: root}
	stem, plain := strings.CutSuffix(name, ".jsonl")
	if !plain {
		stem, f.sqlite = strings.TrimSuffix(name, ".sqlite"), true
	}
	if m := sessionName.FindStringSubmatch(stem); m != nil {
		f.label, f.short = m[3], shortID.MatchString(m[3])
		f.begun, _ = time.Parse("2006-01-02T15-04-05.999999999", m[1]+"."+m[2])
	}
	var err error
	if f.info, err = os.Stat(f.path); err == nil && !f.info.Mode().IsRegular() {
		err = errNotRegular
	}
	return f, err
}

// may says whether the file can be that of a session with this id.
func (f *file) may(id string) bool {
	return f.label == "" || f.label == id || f.short && strings.HasPrefix(id, f.label)
}

// folderName is the name of the folder for a working directory.
func folderName(cwd string) string {
	cwd = strings.TrimLeft(cwd, `/\`)
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(cwd) + "--"
}

// readers is how many files are read at once: a disk has to be kept busy.
const readers = 6

// parallel calls fn(0) to fn(n-1), several at a time, and waits.
func parallel(n int, fn func(i int)) {
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(n, readers) {
		wg.Go(func() {
			for i := range work {
				fn(i)
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
}
