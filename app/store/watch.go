package store

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Changes tells that something in the folder was written or removed, by any
// process, until ctx is done. The channel holds one token: many changes are told
// as one to a slow reader. With an error nothing is told.
func (f Folder) Changes(ctx context.Context) (<-chan struct{}, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err = f.Make(); err == nil {
		err = w.Add(f.path)
	}
	if err != nil {
		_ = w.Close()
		return nil, err
	}
	changed := make(chan struct{}, 1)
	tell := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	go func() {
		defer func() { _ = w.Close() }()
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-w.Events:
				if !ok {
					return
				}
				if e.Name == f.path && e.Has(fsnotify.Remove|fsnotify.Rename) {
					f.again(ctx, w)
				}
				tell()
			case _, ok := <-w.Errors: // what was lost may be anything
				if !ok {
					return
				}
				tell()
			}
		}
	}()
	return changed, nil
}

// again watches a folder that was removed and is made anew, which may have to
// wait: its disk may be full or gone.
func (f Folder) again(ctx context.Context, w *fsnotify.Watcher) {
	for {
		err := f.Make()
		if err == nil {
			err = w.Add(f.path)
		}
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(againPause):
		}
	}
}

// againPause is how often a folder is tried that can't be watched.
const againPause = 10 * time.Second
