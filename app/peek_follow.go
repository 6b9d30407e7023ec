package app

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"rollcall/adapters"
)

const (
	// Changes of a conversation are told when they pause for followQuiet, at the
	// latest after followBurst.
	followQuiet = 80 * time.Millisecond
	followBurst = 400 * time.Millisecond
	// followStep is how often a session is said to have changed that no file
	// tells of; followRest the same for one that is not at work.
	followStep = 3 * time.Second
	followRest = 20 * time.Second
)

// Follow calls changed once it watches s, and then whenever Peek may answer
// differently; it returns when ctx is done. It watches the files that s names; a
// session without any is told of by its agent, where that can, and every few
// seconds. changed is called on this goroutine: while it runs, changes gather.
// When s has another status or names other files, it is to be followed anew.
func (c *Core) Follow(ctx context.Context, s Session, changed func()) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := make(chan struct{}, 1)
	poke := func() {
		select {
		case told <- struct{}{}:
		default:
		}
	}
	w := newFileWatch(s.Files)
	defer w.close()
	var step <-chan time.Time
	if !w.complete {
		t := time.NewTicker(pace(&s))
		defer t.Stop()
		step = t.C
		if p, ok := c.adapter(s.Agent).(adapters.Pusher); ok {
			gone := make(chan struct{})
			defer func() { cancel(); <-gone }()
			go func() { defer close(gone); p.Push(ctx, poke) }()
		}
	}
	changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-told:
		case <-step:
		case e, ok := <-w.events():
			if !ok || !w.concerns(e) {
				continue
			}
		case err := <-w.errors(): // too much at once
			c.cfg.Log.Debug("changes of a session's files were lost", "session", s.ID, "error", err)
		}
		w.settle(ctx, told)
		if ctx.Err() != nil {
			return
		}
		changed()
	}
}

// pace is how often a session is looked at that no file tells of.
func pace(s *Session) time.Duration {
	if s.Status == adapters.Working || s.Status == adapters.Waiting {
		return followStep
	}
	return followRest
}

// fileWatch watches single files, by their folders: files are replaced. kqueue
// would open every file of a folder, so there the files themselves are watched,
// which doesn't tell everything.
type fileWatch struct {
	notify   *fsnotify.Watcher // nil: nothing is watched
	files    []string
	complete bool // every file is watched, and there is one
}

func newFileWatch(files []string) *fileWatch {
	w := &fileWatch{}
	if len(files) == 0 {
		return w
	}
	notify, err := fsnotify.NewBufferedWatcher(64)
	if err != nil {
		return w
	}
	kqueue := runtime.GOOS == "darwin"
	w.notify, w.complete = notify, !kqueue
	for _, f := range files {
		w.files = append(w.files, filepath.Clean(f))
		place := filepath.Dir(f)
		if kqueue {
			place = f
		}
		if err := notify.Add(place); err != nil {
			w.complete = false
		}
	}
	return w
}

func (w *fileWatch) close() {
	if w.notify != nil {
		_ = w.notify.Close()
	}
}

func (w *fileWatch) events() chan fsnotify.Event {
	if w.notify == nil {
		return nil
	}
	return w.notify.Events
}

func (w *fileWatch) errors() chan error {
	if w.notify == nil {
		return nil
	}
	return w.notify.Errors
}

// concerns says whether an event is about one of the files, or what SQLite keeps
// beside it. Its -shm changes with every reader.
func (w *fileWatch) concerns(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod || strings.HasSuffix(e.Name, "-shm") {
		return false
	}
	for _, f := range w.files {
		if strings.HasPrefix(e.Name, f) {
			return true
		}
	}
	return false
}

// settle waits for a pause in the changes.
func (w *fileWatch) settle(ctx context.Context, told <-chan struct{}) {
	end := time.NewTimer(followBurst)
	defer end.Stop()
	pause := time.NewTimer(followQuiet)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-pause.C:
			return
		case <-told:
			pause.Reset(followQuiet)
		case e := <-w.events():
			if w.concerns(e) {
				pause.Reset(followQuiet)
			}
		case _, ok := <-w.errors():
			if !ok {
				return
			}
		}
	}
}
