package app

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"rollcall/adapters"
	"rollcall/app/places"
	"rollcall/bounded"
)

const (
	// Changes of a conversation are reported when they pause for followQuiet, after
	// followBurst at the latest.
	followQuiet = 80 * time.Millisecond
	followBurst = 400 * time.Millisecond
	// followStep is the interval at which a session without files is reported as changed; followRest is the same for
	// one that is not at work.
	followStep = 3 * time.Second
	followRest = 20 * time.Second
	// followMachine is how often a session of another machine is reported as changed while it works. The interval is long
	// because each call of Peek needs a connection.
	followMachine = 10 * time.Second
)

// Follow calls changed once it watches s, and then whenever Peek may return something
// new; it returns when ctx is done. It watches the files of s. For a session without
// files it calls changed when its agent reports a change, and every few seconds. It calls
// changed on this goroutine: changes meanwhile cause one more call. When the status or
// the files of s change, the caller ends Follow and calls it again.
func (c *Core) Follow(ctx context.Context, s Session, changed func()) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reported := NewWakeup()
	w := newFileWatch(s.Files)
	defer w.Close()
	var step <-chan time.Time
	if !w.complete {
		t := time.NewTicker(pace(&s))
		defer t.Stop()
		step = t.C
		if p, ok := c.Adapter(s.Agent).(adapters.Pusher); ok && s.Machine == "" {
			gone := make(chan struct{})
			defer func() { cancel(); <-gone }()
			go func() { defer close(gone); c.push(ctx, p, s.Agent, reported.Set) }()
		}
	}
	changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-reported:
		case <-step:
		case e, ok := <-w.Events():
			if !ok || !w.concerns(e) {
				continue
			}
		case err := <-w.Errors(): // for example too many changes at once
			c.cfg.Log.Debug("changes of a session's files were lost", "session", s.ID, "error", err)
		}
		w.settle(ctx, reported)
		if ctx.Err() != nil {
			return
		}
		changed()
	}
}

// pace returns the interval at which a session without files is reported as changed.
func pace(s *Session) time.Duration {
	switch {
	case s.InTurn() && s.Machine != "":
		return followMachine
	case s.InTurn():
		return followStep
	}
	return followRest
}

// fileWatch watches single files, by their folders, since files are replaced. With kqueue
// it watches the files themselves, since kqueue would open every file of a folder; it then
// misses some changes.
type fileWatch struct {
	*places.Watcher // nil: there is none
	files           []string
	complete        bool // every file is watched, and there is one
}

func newFileWatch(files []string) *fileWatch {
	w := &fileWatch{}
	if len(files) == 0 {
		return w
	}
	watcher, err := places.NewWatcher()
	if err != nil {
		return w
	}
	kqueue := runtime.GOOS == "darwin"
	w.Watcher, w.complete = watcher, !kqueue
	for _, f := range files {
		w.files = append(w.files, filepath.Clean(f))
		place := filepath.Dir(f)
		if kqueue {
			place = f
		}
		if err := watcher.Add(place); errors.Is(err, bounded.ErrNoAnswer) {
			watcher.Leave()
			return &fileWatch{}
		} else if err != nil {
			w.complete = false
		}
	}
	return w
}

// concerns reports whether an event is about one of the files, or about a file that SQLite keeps next to it. It
// ignores the -shm file, which changes with every reader.
func (w *fileWatch) concerns(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod || strings.HasSuffix(e.Name, "-shm") {
		return false
	}
	return slices.ContainsFunc(w.files, func(f string) bool { return strings.HasPrefix(e.Name, f) })
}

// settle waits for a pause in the changes.
func (w *fileWatch) settle(ctx context.Context, reported Wakeup) {
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
		case <-reported:
			pause.Reset(followQuiet)
		case e := <-w.Events():
			if w.concerns(e) {
				pause.Reset(followQuiet)
			}
		case _, ok := <-w.Errors():
			if !ok {
				return
			}
		}
	}
}
