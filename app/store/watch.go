package store

import (
	"context"

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
			case _, ok := <-w.Events:
				if !ok {
					return
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
