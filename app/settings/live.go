package settings

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Live has the settings as they are now. A file with a mistake does not replace the last settings without one. It is safe
// for concurrent use.
type Live struct {
	path string
	log  *slog.Logger

	mu      sync.Mutex
	now     Settings
	err     error // what is wrong with the file
	readers map[chan struct{}]bool
}

// NewLive reads the settings at path. With mistakes at the start, what could be understood counts. Watch keeps them
// current. log may be nil.
func NewLive(path string, log *slog.Logger) *Live {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l := &Live{path: path, log: log, readers: map[chan struct{}]bool{}}
	l.now, l.err = Load(path)
	return l
}

// Path returns the path of the file.
func (l *Live) Path() string { return l.path }

// Get returns the settings that count, and what is wrong with the file.
func (l *Live) Get() (Settings, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now, l.err
}

// Changes returns a channel that receives when the result of Get has changed. It holds one token.
func (l *Live) Changes() <-chan struct{} {
	c := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers[c] = true
	return c
}

// Read reads the file again at once.
func (l *Live) Read() {
	now, err := Load(l.path)
	l.mu.Lock()
	defer l.mu.Unlock()
	before, was := l.now, errorText(l.err)
	l.err = err
	if err == nil {
		l.now = now
	}
	if reflect.DeepEqual(before, l.now) && was == errorText(err) {
		return
	}
	switch {
	case err != nil:
		l.log.Warn("the settings have a mistake; the last ones without it stay in force", "error", err)
	default:
		l.log.Info("the settings have changed", "file", l.path)
	}
	for c := range l.readers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

const (
	// settle is the time that editors take to replace a file.
	settle = 50 * time.Millisecond
	// lookAgain is the interval at which the file is read where its folder does not exist or cannot be watched.
	lookAgain = 30 * time.Second
)

// Watch reads the file whenever it changes, until ctx is done. It watches the file's folder, and that of the file that a
// link leads to.
func (l *Live) Watch(ctx context.Context) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		l.log.Warn("changes of the settings are noticed late", "error", err)
		l.poll(ctx)
		return
	}
	defer func() { _ = w.Close() }()
	watched := l.watchFolders(w)
	l.Read() // it may have changed since NewLive
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if !l.concerns(e.Name, watched) {
				continue
			}
			timer.Reset(settle)
		case _, ok := <-w.Errors: // events were lost
			if !ok {
				return
			}
			timer.Reset(settle)
		case <-timer.C:
			watched = l.watchFolders(w)
			l.Read()
			timer.Reset(lookAgain)
		}
	}
}

func (l *Live) poll(ctx context.Context) {
	t := time.NewTicker(lookAgain)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			l.Read()
		}
	}
}

// watchFolders watches the folders that have the file, and returns the paths whose events count.
func (l *Live) watchFolders(w *fsnotify.Watcher) (paths []string) {
	paths = []string{l.path}
	if real, err := filepath.EvalSymlinks(l.path); err == nil && real != l.path {
		paths = append(paths, real)
	}
	for _, path := range paths {
		dir := filepath.Dir(path)
		if _, err := os.Stat(dir); os.IsNotExist(err) { // until Rollcall's folder exists, the one above tells of it
			dir = filepath.Dir(dir)
		}
		_ = w.Add(dir) // what cannot be watched is read from time to time
	}
	return paths
}

// concerns reports whether an event of path may have changed the settings.
func (l *Live) concerns(path string, watched []string) bool {
	for _, p := range watched {
		if path == p || path == filepath.Dir(p) {
			return true
		}
	}
	// A file that the settings name, such as a token's.
	return filepath.Dir(path) == filepath.Dir(l.path)
}
