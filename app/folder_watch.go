package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"rollcall/bounded"
)

// folders watches the folders of all sources, and the parents of places that do
// not exist yet. It is safe for concurrent use. Run's goroutine calls none of its methods:
// each may wait for a file system that does not answer, up to watchLimit.
type folders struct {
	mu      sync.Mutex
	watcher *folderWatcher // nil: there is none
	// replaced is called, with mu held, when a watcher was given up because a call of it hangs. All its watches are lost. now
	// is the new watcher, or nil with the reason why there is none.
	replaced func(now *folderWatcher, err error)
	// watched are the folders that notify watches, with the interest of each source.
	watched map[string]map[*source]interest
	// infos are the folders as they were when their watch began.
	infos map[string]os.FileInfo
	// sameAs maps a watched path to another watched path of the same folder, as through a symbolic link. The system has one
	// watch for both, and its events contain the second path.
	sameAs map[string]string
	// late counts how often in a row the watch of a folder took longer than watchLimit.
	late map[string]int
}

// maxLate is how many times the watcher is replaced because of one folder. A replacement loses all other watches.
const maxLate = 3

var errLate = fmt.Errorf("starting to watch it took longer than %v", watchLimit)

// interest describes the changes of a folder that a source wants.
type interest struct {
	all   bool        // every change
	names []string    // without all: the appearance of these entries
	info  os.FileInfo // of the folder, when it was last read
}

func newFolders() (*folders, error) {
	w, err := newFolderWatcher()
	if err != nil {
		return nil, err
	}
	return &folders{watcher: w, replaced: func(*folderWatcher, error) {},
		watched: map[string]map[*source]interest{}, infos: map[string]os.FileInfo{}, sameAs: map[string]string{}, late: map[string]int{}}, nil
}

// sync watches the folders that a source wants now (see wantedBy), and ends the watches that it no longer wants. It returns
// the sources to refresh, because a folder of theirs was not watched for a moment, and limits, which describes the folders
// that can't be watched. Both are empty after the watcher was replaced: then all sources are refreshed.
func (f *folders) sync(s *source, wanted map[string]interest) (again []*source, limits []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watcher == nil {
		return nil, nil
	}
	added, watcher := false, f.watcher
	for path, by := range f.watched {
		if _, ok := wanted[path]; ok {
			continue
		}
		delete(by, s)
		if len(by) == 0 {
			again = append(again, f.remove(path)...)
		}
	}
	for path, in := range wanted {
		if f.watcher != watcher {
			return nil, nil
		}
		fresh, err := f.add(path, in.info)
		switch {
		case errors.Is(err, bounded.ErrNoAnswer): // the watcher was replaced
		case errors.Is(err, fs.ErrNotExist): // the folder was removed meanwhile: the next answer names other folders
		case err != nil:
			limits = append(limits, explainWatch(path, err))
		default:
			had, known := f.watched[path][s]
			added = added || fresh || !known || in.all && !had.all
			f.watched[path][s] = in
		}
	}
	if f.watcher != watcher {
		return nil, nil
	}
	if added && !slices.Contains(again, s) {
		again = append(again, s)
	}
	slices.Sort(limits)
	return again, firstLimits(limits)
}

// wantedBy returns the folders to watch for a source.
func wantedBy(p *places) map[string]interest {
	wanted := map[string]interest{}
	var missing []string
	for _, path := range p.watch {
		path = filepath.Clean(path)
		if info := folderAt(path); info != nil {
			wanted[path] = interest{all: true, info: info}
		} else {
			missing = append(missing, path)
		}
	}
	for _, path := range append(missing, p.lookedIn...) {
		parent, name := nearestFolder(path)
		in := wanted[parent]
		if name == "" || in.all || slices.Contains(in.names, name) {
			continue
		}
		if in.info == nil {
			in.info = folderAt(parent)
		}
		if in.names = append(in.names, name); in.info != nil {
			wanted[parent] = in
		}
	}
	return wanted
}

// folderAt returns the folder at a path; nil where there is none, or where the file system
// does not answer.
func folderAt(path string) os.FileInfo {
	if !bounded.Answers(path) {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return nil
	}
	os.SameFile(info, info) // Windows reads a file's number when it is first compared
	return info
}

// nearestFolder returns the nearest existing folder above a missing path, and the entry
// whose appearance there leads to the path. It returns nothing for a path that exists, or
// that is on a file system that does not answer.
func nearestFolder(path string) (parent, name string) {
	if !filepath.IsAbs(path) {
		return "", ""
	}
	path = filepath.Clean(path)
	if !bounded.Answers(path) {
		return "", ""
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", ""
	}
	for {
		up := filepath.Dir(path)
		if up == path {
			return "", ""
		}
		if folderAt(up) != nil {
			return up, filepath.Base(path)
		}
		path = up
	}
}

// add watches a folder that is not watched yet. info describes the folder as it was right before the call: a folder
// that replaces it meanwhile is noticed, and its file system is not asked again.
func (f *folders) add(path string, info os.FileInfo) (fresh bool, err error) {
	if f.watched[path] != nil {
		return false, nil
	}
	if other := f.sameFolder(info); other != "" {
		f.sameAs[path] = other
	} else if err := f.begin(path); err != nil {
		return false, err
	}
	f.watched[path], f.infos[path] = map[*source]interest{}, info
	return true, nil
}

// begin makes the system watch a folder. When its file system does not answer, begin
// replaces the watcher, since all calls of a watcher wait for the one that hangs.
func (f *folders) begin(path string) error {
	if f.late[path] >= maxLate {
		return errLate
	}
	err := f.watcher.add(path)
	if !errors.Is(err, bounded.ErrNoAnswer) {
		delete(f.late, path)
	} else {
		f.late[path]++
		f.watcher.leave()
		f.clear()
		now, failed := newFolderWatcher()
		if failed != nil {
			err = errors.Join(err, failed)
		}
		f.watcher = now
		f.replaced(now, err)
	}
	return err
}

// sameFolder returns the path by which the system watches a folder, or "" if it does not.
func (f *folders) sameFolder(info os.FileInfo) string {
	for path, other := range f.infos {
		if os.SameFile(info, other) {
			return cmp.Or(f.sameAs[path], path)
		}
	}
	return ""
}

// aliases returns the other watched paths to the folder that the system watches by path.
func (f *folders) aliases(path string) []string {
	var out []string
	for alias, other := range f.sameAs {
		if other == path {
			out = append(out, alias)
		}
	}
	return out
}

// remove ends the watch of a path. If other watched paths lead to the same folder, remove
// watches the folder by one of them, and returns the sources that want these paths: a
// change in between may have been missed.
func (f *folders) remove(path string) (disturbed []*source) {
	delete(f.watched, path)
	delete(f.infos, path)
	if f.sameAs[path] != "" {
		delete(f.sameAs, path)
		return nil
	}
	_ = f.watcher.notify.Remove(path)
	aliases := f.aliases(path)
	if len(aliases) == 0 {
		return nil
	}
	next := aliases[0]
	err := f.begin(next)
	if errors.Is(err, bounded.ErrNoAnswer) {
		return nil // the watcher was replaced
	}
	for _, alias := range aliases {
		f.sameAs[alias] = next
		disturbed = slices.AppendSeq(disturbed, maps.Keys(f.watched[alias]))
		if err != nil { // usually the path was removed too; if not, its sources name it again
			delete(f.watched, alias)
			delete(f.infos, alias)
			delete(f.sameAs, alias)
		}
	}
	delete(f.sameAs, next)
	return disturbed
}

// watches returns the watched folders as they were when their watch began.
func (f *folders) watches() map[string]os.FileInfo {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.infos)
}

// forget ends the watch of a folder whose path no longer leads to it, and the watches of that folder by other paths. It
// returns the sources that wanted the folder; they watch it again once they are refreshed.
func (f *folders) forget(path string, was os.FileInfo) []*source {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.infos[path] != was {
		return nil // it is watched again already
	}
	var out []*source
	for other, info := range f.infos {
		if other != path && !os.SameFile(info, was) {
			continue
		}
		for s := range f.watched[other] {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		f.remove(other)
	}
	return out
}

// forgetAll ends all watches. Sources that are refreshed begin theirs again.
func (f *folders) forgetAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path := range f.watched {
		if f.sameAs[path] == "" {
			_ = f.watcher.notify.Remove(path)
		}
	}
	f.clear()
}

// close ends the watcher. folders must not be used afterwards.
func (f *folders) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clear()
	f.watcher.close()
	f.watcher = nil
}

func (f *folders) clear() {
	clear(f.watched)
	clear(f.infos)
	clear(f.sameAs)
}

// changedSources returns the sources that want the change in an event.
func (f *folders) changedSources(e fsnotify.Event) []*source {
	if e.Op == fsnotify.Chmod {
		return nil // only times or modes changed; reading a database has this effect on its files too
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*source
	if by := f.watched[e.Name]; by != nil && e.Has(fsnotify.Remove|fsnotify.Rename) {
		// A watched folder was removed or renamed: it is watched again once it is back.
		out = slices.AppendSeq(out, maps.Keys(by))
		out = append(out, f.remove(e.Name)...)
	}
	dir := filepath.Dir(e.Name)
	for _, path := range append(f.aliases(dir), dir) {
		for s, in := range f.watched[path] {
			if in.all || e.Has(fsnotify.Create) && slices.Contains(in.names, filepath.Base(e.Name)) {
				out = append(out, s)
			}
		}
	}
	return out
}

// explainWatch describes the consequence when a folder can't be watched, and what to do.
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

// firstLimits returns the first three of many limits, and how many more there are.
func firstLimits(limits []string) []string {
	if len(limits) <= 3 {
		return limits
	}
	return append(limits[:3:3], fmt.Sprintf("and %d more folders", len(limits)-3))
}
