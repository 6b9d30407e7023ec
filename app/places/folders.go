package places

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"rollcall/bounded"
)

// Folders watches the folders that owners want, and the parents of places that do not exist yet. It is safe for concurrent use. Each
// method may wait up to watchLimit for a file system that does not answer.
type Folders[O comparable] struct {
	mu      sync.Mutex
	watcher *Watcher // nil: there is none
	// replaced: see NewFolders.
	replaced func(now *Watcher, err error)
	// watched are the folders that notify watches, with the interest of each owner.
	watched map[string]map[O]Interest
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

// NewFolders returns Folders with a new watcher of the system, which Watcher returns. replaced is called, while a method runs, when
// a watcher was given up because a call of it hangs. All its watches are lost. now is the new watcher, or nil with the
// reason why there is none. nil: nothing is called.
func NewFolders[O comparable](replaced func(now *Watcher, err error)) (*Folders[O], error) {
	w, err := NewWatcher()
	if err != nil {
		return nil, err
	}
	if replaced == nil {
		replaced = func(*Watcher, error) {}
	}
	return &Folders[O]{watcher: w, replaced: replaced,
		watched: map[string]map[O]Interest{}, infos: map[string]os.FileInfo{}, sameAs: map[string]string{}, late: map[string]int{}}, nil
}

// Watcher returns the watcher of the system; nil: there is none any more.
func (f *Folders[O]) Watcher() *Watcher {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.watcher
}

// Sync watches the folders that a source wants now (Wanted), and ends the watches that it no longer wants. It returns
// the sources to refresh, because a folder of theirs was not watched for a moment, and limits, which describes the folders
// that can't be watched. Both are empty after the watcher was replaced: then all sources are refreshed.
func (f *Folders[O]) Sync(owner O, wanted map[string]Interest) (again []O, limits []string) {
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
		delete(by, owner)
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
		case errors.Is(err, fs.ErrNotExist):
			added = true // removed meanwhile, and perhaps back by now
		case err != nil:
			limits = append(limits, Explain(path, err))
		default:
			had, known := f.watched[path][owner]
			added = added || fresh || !known || in.all && !had.all
			f.watched[path][owner] = in
		}
	}
	if f.watcher != watcher {
		return nil, nil
	}
	if added && !slices.Contains(again, owner) {
		again = append(again, owner)
	}
	slices.Sort(limits)
	return again, first(limits)
}

// add watches a folder that is not watched yet. info describes the folder as it was right before the call: a folder
// that replaces it meanwhile is noticed, and its file system is not asked again.
func (f *Folders[O]) add(path string, info os.FileInfo) (fresh bool, err error) {
	if f.watched[path] != nil {
		return false, nil
	}
	if other := f.sameFolder(info); other != "" {
		f.sameAs[path] = other
	} else if err := f.begin(path); err != nil {
		return false, err
	}
	f.watched[path], f.infos[path] = map[O]Interest{}, info
	return true, nil
}

// begin makes the system watch a folder. When its file system does not answer, begin
// replaces the watcher, since all calls of a watcher wait for the one that hangs.
func (f *Folders[O]) begin(path string) error {
	if f.late[path] >= maxLate {
		return errLate
	}
	err := f.watcher.Add(path)
	if !errors.Is(err, bounded.ErrNoAnswer) {
		delete(f.late, path)
	} else {
		f.late[path]++
		f.watcher.Leave()
		f.clear()
		now, failed := NewWatcher()
		if failed != nil {
			err = errors.Join(err, failed)
		}
		f.watcher = now
		f.replaced(now, err)
	}
	return err
}

// sameFolder returns the path by which the system watches a folder, or "" if it does not.
func (f *Folders[O]) sameFolder(info os.FileInfo) string {
	for path, other := range f.infos {
		if os.SameFile(info, other) {
			return cmp.Or(f.sameAs[path], path)
		}
	}
	return ""
}

// aliases returns the other watched paths to the folder that the system watches by path.
func (f *Folders[O]) aliases(path string) []string {
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
func (f *Folders[O]) remove(path string) (disturbed []O) {
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

// Watches returns the watched folders as they were when their watch began.
func (f *Folders[O]) Watches() map[string]os.FileInfo {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.infos)
}

// Forget ends the watch of a folder whose path no longer leads to it, and the watches of that folder by other paths. It
// returns the sources that wanted the folder; they watch it again once they are refreshed.
func (f *Folders[O]) Forget(path string, was os.FileInfo) []O {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.infos[path] != was {
		return nil // it is watched again already
	}
	var out []O
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

// ForgetAll ends all watches. Sources that are refreshed begin theirs again.
func (f *Folders[O]) ForgetAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path := range f.watched {
		if f.sameAs[path] == "" {
			_ = f.watcher.notify.Remove(path)
		}
	}
	f.clear()
}

// Close ends the watcher. folders must not be used afterwards.
func (f *Folders[O]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clear()
	f.watcher.Close()
	f.watcher = nil
}

func (f *Folders[O]) clear() {
	clear(f.watched)
	clear(f.infos)
	clear(f.sameAs)
}

// Changed returns the sources that want the change in an event.
func (f *Folders[O]) Changed(e fsnotify.Event) []O {
	if e.Op == fsnotify.Chmod {
		return nil // only times or modes changed; reading a database has this effect on its files too
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []O
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

// Explain describes the consequence when a folder can't be watched, and what to do.
func Explain(path string, err error) string {
	return explain(runtime.GOOS, path, err)
}

func explain(system, path string, err error) string {
	const what = "changes show only when the list is refreshed"
	fix := ""
	switch {
	case errors.Is(err, syscall.ENOSPC) && system == "linux":
		err, fix = errors.New("the system's limit of watched folders is reached"), "; raise fs.inotify.max_user_watches"
	case errors.Is(err, syscall.EMFILE) && system == "linux":
		err, fix = errors.New("the system's limit of watchers is reached"), "; raise fs.inotify.max_user_instances"
	case errors.Is(err, syscall.EMFILE): // kqueue opens each file of a watched folder
		err, fix = errors.New("this program's limit of open files is reached"), "; raise it with launchctl limit maxfiles, then start Rollcall again"
	}
	if path != "" {
		path += ": "
	}
	return fmt.Sprintf("%s%s: %v%s", path, what, err, fix)
}

// first returns the first three of many limits, and how many more there are.
func first(limits []string) []string {
	if len(limits) <= 3 {
		return limits
	}
	return append(limits[:3:3], fmt.Sprintf("and %d more folders", len(limits)-3))
}
