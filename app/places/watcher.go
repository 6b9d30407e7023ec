package places

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"

	"rollcall/bounded"
)

// watchLimit is the time that the system may take to begin the watch of a folder.
const watchLimit = 2 * time.Second

// Watcher is a watcher of the system. Its calls wait for each other. A nil one has no
// events.
type Watcher struct{ notify *fsnotify.Watcher }

// NewWatcher returns a watcher that watches nothing yet. The caller closes it.
func NewWatcher() (*Watcher, error) {
	w, err := fsnotify.NewBufferedWatcher(256)
	if err != nil {
		return nil, err
	}
	return &Watcher{w}, nil
}

// Add watches a folder. It returns bounded.ErrNoAnswer after watchLimit; the caller must
// then call Leave, and nothing else.
func (w *Watcher) Add(path string) error {
	_, err := bounded.In(path, watchLimit, func(context.Context) (struct{}, error) { return struct{}{}, w.notify.Add(path) })
	return err
}

// Events returns the channel of changes in the watched folders; nil for a nil watcher.
func (w *Watcher) Events() <-chan fsnotify.Event {
	if w == nil {
		return nil
	}
	return w.notify.Events
}

// Errors returns the channel of errors, such as lost events; nil for a nil watcher.
func (w *Watcher) Errors() <-chan error {
	if w == nil {
		return nil
	}
	return w.notify.Errors
}

// Close ends the watcher and its channels.
func (w *Watcher) Close() {
	if w != nil {
		_ = w.notify.Close()
	}
}

// Leave closes the watcher once the call that hangs has returned.
func (w *Watcher) Leave() { go func() { _ = w.notify.Close() }() }
