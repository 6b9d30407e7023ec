package store

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"rollcall/app/owned"
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

// isValue reports whether a file holds a value. Temporary files and the lock do not.
func isValue(path string) bool {
	name, ok := strings.CutSuffix(filepath.Base(path), suffix)
	return ok && !strings.Contains(name, temporary)
}

func (f Folder) watch(w *fsnotify.Watcher) error {
	return f.change(owned.MakeDir, func(context.Context, *owned.Dir) error { return w.Add(f.path) })
}

// rewatch creates a folder that was removed, and watches it. It tries again until that succeeds or ctx is done: the disk
// may be full or gone.
func (f Folder) rewatch(ctx context.Context, w *fsnotify.Watcher) {
	for f.watch(w) != nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(rewatchPause):
		}
	}
}

// rewatchPause is the pause between attempts to watch a folder.
const rewatchPause = 10 * time.Second
