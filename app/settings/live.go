package settings

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"sync"

	"rollcall/app/store"
)

// Live has the settings as they are now. A file with a mistake does not replace the last settings without one. It is safe
// for concurrent use.
type Live struct {
	path string
	log  *slog.Logger

	mu      sync.Mutex
	now     Settings
	err     error     // what is wrong with the file
	answers Answering // of the file as it is, also with a mistake
	readers map[chan struct{}]bool
}

// NewLive reads the settings at path. With mistakes at the start, what could be understood counts. Watch keeps them
// current. log may be nil.
func NewLive(path string, log *slog.Logger) *Live {
	l := &Live{path: path, log: cmp.Or(log, slog.New(slog.DiscardHandler)), readers: map[chan struct{}]bool{}}
	l.now, l.err = Load(path)
	l.answers = l.now.Answering
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

// Answering returns the setting "answering" of the file as it is now. Unlike the other settings it does not stay in force
// when the file gets a mistake: a file that forbids answers must not be passed over, and one that can't be read allows
// none.
func (l *Live) Answering() Answering {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers
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
	before, was, answers := l.now, fmt.Sprint(l.err), l.answers
	l.err, l.answers = err, now.Answering
	if err == nil {
		l.now = now
	}
	if reflect.DeepEqual(before, l.now) && was == fmt.Sprint(err) && answers == l.answers {
		return
	}
	if err != nil {
		l.log.Warn("the settings have a mistake; the last ones without it stay in force", "error", err)
	} else {
		l.log.Info("the settings have changed", "file", l.path)
	}
	for c := range l.readers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Watch reads the file whenever it changes, until ctx is done.
func (l *Live) Watch(ctx context.Context) {
	for range store.FileChanges(ctx, l.path) {
		l.Read()
	}
}
