package app

import (
	"context"
	"errors"
	"time"

	"github.com/fsnotify/fsnotify"

	"rollcall/adapters"
	"rollcall/bounded"
)

// watchLimit is the time that the system may take to begin the watch of a folder.
const watchLimit = 2 * time.Second

// folderWatcher is a watcher of the system. Its calls wait for each other. A nil one has no
// events.
type folderWatcher struct{ notify *fsnotify.Watcher }

func newFolderWatcher() (*folderWatcher, error) {
	w, err := fsnotify.NewBufferedWatcher(256)
	if err != nil {
		return nil, err
	}
	return &folderWatcher{w}, nil
}

// add watches a folder. It returns bounded.ErrNoAnswer after watchLimit; the caller must
// then call leave, and nothing else.
func (w *folderWatcher) add(path string) error {
	_, err := bounded.In(path, watchLimit, func(context.Context) (struct{}, error) { return struct{}{}, w.notify.Add(path) })
	return err
}

func (w *folderWatcher) events() <-chan fsnotify.Event {
	if w == nil {
		return nil
	}
	return w.notify.Events
}

func (w *folderWatcher) errors() <-chan error {
	if w == nil {
		return nil
	}
	return w.notify.Errors
}

func (w *folderWatcher) close() {
	if w != nil {
		_ = w.notify.Close()
	}
}

// leave ends the watcher once the call that hangs has returned.
func (w *folderWatcher) leave() { go func() { _ = w.notify.Close() }() }

// startFolderWatcher creates the folder watcher, if an adapter wants one.
func (r *runner) startFolderWatcher() {
	for _, s := range r.core.sources {
		if _, ok := s.adapter.(adapters.Watcher); !ok {
			continue
		}
		f, err := newFolders()
		if err != nil {
			r.eventsLost(lostEvents{err, true})
			return
		}
		f.replaced = r.watcherReplaced
		r.folders = f
		go r.handleEvents(f.watcher)
		return
	}
}

// handleEvents reports to Run which sources the events of a watcher concern. It runs on another goroutine than Run,
// because the methods of folders may wait.
func (r *runner) handleEvents(w *folderWatcher) {
	for {
		select {
		case <-r.ctx.Done():
			return
		case e, ok := <-w.events():
			if !ok {
				return
			}
			if changed := r.folders.changedSources(e); changed != nil {
				send(r.ctx, r.changed, changed)
			}
		case err, ok := <-w.errors():
			if !ok {
				return
			}
			r.handleWatchError(err)
		}
	}
}

// handleWatchError reports to Run that events were lost.
func (r *runner) handleWatchError(err error) {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		r.folders.forgetAll() // also the removal of a folder may be among the lost events
	}
	send(r.ctx, r.lost, lostEvents{err: err})
}

// watcherReplaced reports to Run that a watcher was left behind with all its watches, and
// takes the events of the new one, if there is one. The watches begin again as the
// sources are refreshed.
func (r *runner) watcherReplaced(now *folderWatcher, err error) {
	if now != nil {
		go r.handleEvents(now)
	}
	send(r.ctx, r.lost, lostEvents{err, now == nil})
}

// lostEvents is the reason why changes were not noticed or, without a watcher, will not be.
type lostEvents struct {
	err       error
	noWatcher bool
}

// eventsLost refreshes the sources that want folders watched, or shows with each that
// there is no watcher.
func (r *runner) eventsLost(l lostEvents) {
	r.noWatcher = r.noWatcher || l.noWatcher
	r.core.cfg.Log.Warn("changes of folders may go unnoticed", "error", l.err)
	for _, s := range r.core.sources {
		if _, ok := s.adapter.(adapters.Watcher); !ok {
			continue
		}
		if l.noWatcher {
			r.setLimits(s, []string{explainWatch("", l.err)})
		}
		r.markChanged(s)
	}
}
