package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/bounded"

	"github.com/fsnotify/fsnotify"
)

// Changes returns a channel that receives when a process has written or removed a value in the folder, until ctx is
// done. Temporary files do not count. The channel holds one token, so a slow reader gets one for many changes. If
// Changes returns an error and a channel, tokens come once the folder can be watched. Without a channel none come.
func (f Folder) Changes(ctx context.Context) (<-chan struct{}, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	err = f.watch(w)
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	go func() {
		defer func() { _ = w.Close() }()
		if err != nil {
			f.rewatch(ctx, w)
			notify()
		}
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-w.Events:
				if !ok {
					return
				}
				gone := e.Name == f.path && e.Has(fsnotify.Remove|fsnotify.Rename)
				if gone {
					f.rewatch(ctx, w)
				}
				if gone || isValue(e.Name) {
					notify()
				}
			case _, ok := <-w.Errors: // events were lost: any value may have changed
				if !ok {
					return
				}
				notify()
			}
		}
	}()
	return changed, err
}

// isValue reports whether a file contains a value: it is neither a temporary file nor the lock.
func isValue(path string) bool {
	name, ok := strings.CutSuffix(filepath.Base(path), suffix)
	return ok && !strings.Contains(name, temporary)
}

func (f Folder) watch(w *fsnotify.Watcher) error {
	return f.change(MakeDir, func(context.Context, *Dir) error { return w.Add(f.path) })
}

// rewatch creates a folder that was removed, and watches it. It tries again until that succeeds or ctx is done: the disk may
// be full or not mounted.
func (f Folder) rewatch(ctx context.Context, w *fsnotify.Watcher) {
	for f.watch(w) != nil {
		if bounded.Wait(ctx, rewatchPause) != nil {
			return
		}
	}
}

// rewatchPause is the pause between attempts to watch a folder.
const rewatchPause = 10 * time.Second

const (
	// settle is the time that editors take to replace a file.
	settle = 50 * time.Millisecond
	// lookAgain is the interval of tokens without an event: a folder may not exist yet, or it may be impossible to watch it.
	lookAgain = 30 * time.Second
)

// FileChanges returns a channel that receives once at the beginning, then whenever a file that the user writes, such as the
// settings, may have changed, and at intervals. It is closed when ctx is done. A file that is a link also counts as
// changed when its target changes. So does a change of any other file in the same folder, since the file may name it.
func FileChanges(ctx context.Context, path string) <-chan struct{} {
	changed := make(chan struct{}, 1)
	go func() {
		defer close(changed)
		var events chan fsnotify.Event
		var lost chan error
		w, err := fsnotify.NewWatcher()
		if err == nil {
			defer func() { _ = w.Close() }()
			events, lost = w.Events, w.Errors
		}
		timer := time.NewTimer(0)
		defer timer.Stop()
		var counting []string
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-events:
				if slices.Contains(counting, e.Name) || filepath.Dir(e.Name) == filepath.Dir(path) {
					timer.Reset(settle)
				}
			case _, ok := <-lost: // events
				if !ok {
					lost = nil
				}
				timer.Reset(settle)
			case <-timer.C:
				if w != nil {
					counting = watchAround(w, path)
				}
				select {
				case changed <- struct{}{}:
				default:
				}
				timer.Reset(lookAgain)
			}
		}
	}()
	return changed
}

// watchAround watches the folders of a file and of what it leads to, and returns the paths whose events count. Until a
// folder exists, the one above it is watched.
func watchAround(w *fsnotify.Watcher, path string) (counting []string) {
	files := []string{path}
	if target, err := filepath.EvalSymlinks(path); err == nil && target != path {
		files = append(files, target)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		counting = append(counting, file, dir)
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			dir = filepath.Dir(dir)
		}
		_ = w.Add(dir) // a folder that cannot be watched is read at intervals
	}
	return counting
}
