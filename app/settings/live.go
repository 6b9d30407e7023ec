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

// Live holds the current settings. After a change that brings a mistake into the file, it keeps the last settings without
// mistakes. It is safe for concurrent use.
type Live struct {
	path string
	log  *slog.Logger

	mu      sync.Mutex
	now     Settings
	err     error          // what is wrong with the file
	answers AnsweringTable // the setting of the file as it is now, even if the file has a mistake
	readers map[chan struct{}]bool
}

// NewLive reads the settings at path. If the file has mistakes at the start, NewLive uses the settings that could be
// understood. Watch keeps them current. log may be nil.
func NewLive(path string, log *slog.Logger) *Live {
	l := &Live{path: path, log: cmp.Or(log, slog.New(slog.DiscardHandler)), readers: map[chan struct{}]bool{}}
	l.now, l.err = Load(path)
	l.answers = l.now.Answering
	return l
}

// Path returns the path of the file.
func (l *Live) Path() string { return l.path }

// Get returns the settings in force, and what is wrong with the file.
func (l *Live) Get() (Settings, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now, l.err
}

// Answering returns the setting "answering" of the file as it is now. Unlike the other settings, it also changes when the
// file has a mistake: a file that forbids answers must not be ignored, and a file that can't be read allows none.
func (l *Live) Answering() Answering {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers.Requests
}

// OneKey returns the commands of the file as it is now that the user entered for one key. As with Answering, those of an earlier file do not stay in force.
func (l *Live) OneKey() []OneKey {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers.OneKey
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
	before := l.now
	was := fmt.Sprint(l.err)
	answers := l.answers
	l.err, l.answers = err, now.Answering
	if err == nil {
		l.now = now
	}
	if reflect.DeepEqual(before, l.now) && was == fmt.Sprint(err) && reflect.DeepEqual(answers, l.answers) {
		return
	}
	if err != nil {
		l.log.Warn("the settings have a mistake; the last settings without a mistake stay in force", "error", err)
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
