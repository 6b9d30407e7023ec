package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// folders watches the folders of all sources, and the parents of places that do
// not exist yet. It belongs to Run's goroutine. A nil one has no events.
type folders struct {
	notify *fsnotify.Watcher
	// watched are the folders that notify has, with what each source wants of
	// them.
	watched map[string]map[*source]interest
}

// interest is what a source wants of a folder.
type interest struct {
	all   bool     // every change
	names []string // else the appearance of these entries
}

func newFolders() (*folders, error) {
	w, err := fsnotify.NewBufferedWatcher(256)
	if err != nil {
		return nil, err
	}
	return &folders{notify: w, watched: map[string]map[*source]interest{}}, nil
}

func (f *folders) events() chan fsnotify.Event {
	if f == nil {
		return nil
	}
	return f.notify.Events
}

func (f *folders) errors() chan error {
	if f == nil {
		return nil
	}
	return f.notify.Errors
}

func (f *folders) close() {
	if f != nil {
		_ = f.notify.Close()
	}
}

// sync watches what a source wants now and leaves what it wanted before. added:
// something is watched that wasn't. limits are what can't be watched, in words.
func (f *folders) sync(s *source, p *places) (added bool, limits []string) {
	wanted := wantedBy(p)
	for path, by := range f.watched {
		if _, ok := wanted[path]; ok {
			continue
		}
		delete(by, s)
		if len(by) == 0 {
			delete(f.watched, path)
			_ = f.notify.Remove(path)
		}
	}
	for path, in := range wanted {
		fresh, err := f.add(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone again: the next answer knows more
		case err != nil:
			limits = append(limits, explainWatch(path, err))
		default:
			_, had := f.watched[path][s]
			added = added || fresh || !had
			f.watched[path][s] = in
		}
	}
	slices.Sort(limits)
	return added, brief(limits)
}

// wantedBy are the folders to watch for a source.
func wantedBy(p *places) map[string]interest {
	wanted := map[string]interest{}
	var missing []string
	for _, path := range p.watch {
		if path = filepath.Clean(path); isFolder(path) {
			wanted[path] = interest{all: true}
		} else {
			missing = append(missing, path)
		}
	}
	for _, path := range append(missing, p.lookedIn...) {
		parent, name := awaited(path)
		in := wanted[parent]
		if name == "" || in.all || slices.Contains(in.names, name) {
			continue
		}
		in.names = append(in.names, name)
		wanted[parent] = in
	}
	return wanted
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// awaited finds the nearest folder above a missing path that exists, and the
// entry whose appearance there leads to it. Nothing for what exists.
func awaited(path string) (parent, name string) {
	if !filepath.IsAbs(path) {
		return "", ""
	}
	path = filepath.Clean(path)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", ""
	}
	for {
		up := filepath.Dir(path)
		if up == path {
			return "", ""
		}
		if isFolder(up) {
			return up, filepath.Base(path)
		}
		path = up
	}
}

// add watches a folder, if it isn't yet.
func (f *folders) add(path string) (fresh bool, err error) {
	if f.watched[path] != nil {
		return false, nil
	}
	if err := f.notify.Add(path); err != nil {
		return false, err
	}
	f.watched[path] = map[*source]interest{}
	return true, nil
}

// touched are the sources that an event is news for.
func (f *folders) touched(e fsnotify.Event) []*source {
	if e.Op == fsnotify.Chmod {
		return nil // times and modes; also what reading a database does to its files
	}
	var out []*source
	if by := f.watched[e.Name]; by != nil && e.Has(fsnotify.Remove|fsnotify.Rename) {
		// A watched folder went away: it is watched anew once it is back.
		for s := range by {
			out = append(out, s)
		}
		delete(f.watched, e.Name)
		_ = f.notify.Remove(e.Name)
	}
	for s, in := range f.watched[filepath.Dir(e.Name)] {
		if in.all || e.Has(fsnotify.Create) && slices.Contains(in.names, filepath.Base(e.Name)) {
			out = append(out, s)
		}
	}
	return out
}

// explainWatch says what it means that a folder can't be watched, and what to do.
func explainWatch(path string, err error) string {
	what := "changes show only when the list is refreshed"
	fix := ""
	switch {
	case errors.Is(err, syscall.ENOSPC):
		err, fix = errors.New("the system's limit of watched folders is reached"), "; raise fs.inotify.max_user_watches"
	case errors.Is(err, syscall.EMFILE):
		err, fix = errors.New("the system's limit of watchers is reached"), "; raise fs.inotify.max_user_instances"
	}
	if path != "" {
		path += ": "
	}
	return fmt.Sprintf("%s%s: %v%s", path, what, err, fix)
}

// brief keeps the first of many like problems.
func brief(limits []string) []string {
	if len(limits) <= 3 {
		return limits
	}
	return append(limits[:3:3], fmt.Sprintf("and %d more folders", len(limits)-3))
}
