package store

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/bounded"
)

// The shortest and the longest pause between two attempts.
const (
	FirstPause = time.Second
	LastPause  = time.Minute
)

// Pause is the time to wait after an attempt that failed. It doubles with each failure, from FirstPause to LastPause.
// The zero value is the state without a failure. It is not safe for concurrent use.
type Pause struct {
	length time.Duration
	until  time.Time
}

// Failed begins the next pause.
func (p *Pause) Failed(now time.Time) {
	p.length = min(max(2*p.length, FirstPause), LastPause)
	p.until = now.Add(p.length)
}

// Succeeded ends the pause.
func (p *Pause) Succeeded() { *p = Pause{} }

// Left returns the rest of the pause, or 0 if there is none. A clock that was set back does not prolong the pause.
func (p *Pause) Left(now time.Time) time.Duration {
	return min(max(p.until.Sub(now), 0), p.length)
}

// logInterval is the shortest time between two log lines with the same cause.
const logInterval = time.Minute

// Failures collects the troubles of the parts of a process. It is safe for concurrent use.
type Failures struct {
	log  *slog.Logger
	show func([]string)

	mu     sync.Mutex
	logged map[string]time.Time // time of the last log line, by cause
	now    map[string]string    // current trouble, by part
}

// NewFailures returns Failures without a trouble. It calls show, which may be nil, with the troubles of all parts, one line each,
// whenever they change. show must not block.
func NewFailures(log *slog.Logger, show func([]string)) *Failures {
	if show == nil {
		show = func([]string) {}
	}
	return &Failures{log: log, show: show, logged: map[string]time.Time{}, now: map[string]string{}}
}

// Failed records that a part, such as "timers", could not do something. It writes at most one log line a minute for
// each cause, whatever the part.
func (b *Failures) Failed(part, what string, err error) {
	cause := Cause(err)
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.logged, func(_ string, at time.Time) bool { return time.Since(at) >= logInterval })
	if _, recently := b.logged[cause]; !recently {
		b.logged[cause] = time.Now()
		b.log.Warn(what, "cause", cause, "error", err)
	}
	b.set(part, cause+": "+part+" can't be kept")
}

// Say records a trouble of a part in the caller's words, or, with an empty text, that the part no longer has one. It logs
// nothing.
func (b *Failures) Say(part, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(part, text)
}

// Succeeded records that a part no longer has a trouble.
func (b *Failures) Succeeded(part string) { b.Say(part, "") }

func (b *Failures) set(part, text string) {
	if b.now[part] == text {
		return
	}
	b.now[part] = text
	if text == "" {
		delete(b.now, part)
	}
	b.show(slices.Sorted(maps.Values(b.now)))
}

// Task is work that Loop repeats for one part of the process.
type Task struct {
	Part string
	// Do does the work. It returns the time after which it must be called again, or 0 if a signal will come first.
	Do func(context.Context) (again time.Duration, err error)
	// Changes and Wake call Do early. Either may be nil.
	Changes, Wake <-chan struct{}
}

// Loop calls t.Do at once and then whenever it is due, until ctx is done. After an error that wraps
// store.ErrNotWritten it waits for a Pause, which no signal cuts short: the failed write may itself have caused the
// signal. After any other error it calls t.Do again within LastPause.
func (b *Failures) Loop(ctx context.Context, t Task) {
	var pause Pause
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.Changes:
		case <-t.Wake:
		case <-due.C:
		}
		if left := pause.Left(time.Now()); left > 0 {
			due.Reset(left)
			continue
		}
		again, err := t.Do(ctx)
		if again != 0 {
			due.Reset(max(again, time.Millisecond))
		}
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, ErrNotWritten):
			b.Failed(t.Part, t.Part+" could not be kept", err)
			pause.Failed(time.Now())
			due.Reset(pause.Left(time.Now()))
		case err != nil:
			b.Failed(t.Part, t.Part+" could not all be read", err)
			if again == 0 || again > LastPause {
				due.Reset(LastPause)
			}
		default:
			pause.Succeeded()
			b.Succeeded(t.Part)
		}
	}
}

// Retry calls do until it succeeds, with a Pause after each failure, and records the failures of the part. Once ctx is
// done it calls do at most once more.
func (b *Failures) Retry(ctx context.Context, part, what string, do func() error) {
	var pause Pause
	for {
		err := do()
		if err == nil {
			return
		}
		b.Failed(part, what, err)
		if ctx.Err() != nil {
			return
		}
		pause.Failed(time.Now())
		_ = bounded.Wait(ctx, pause.Left(time.Now()))
	}
}

// Cause returns in a few words why a file could not be kept, such as "disk full". The same trouble with several files
// has the same cause.
func Cause(err error) string {
	switch {
	case isFull(err):
		return "disk full"
	case isReadOnly(err):
		return "disk read-only"
	case errors.Is(err, bounded.ErrNoAnswer):
		return "disk does not answer"
	case errors.Is(err, ErrUnsafe):
		return "folder or file is not private"
	case errors.Is(err, fs.ErrPermission):
		return "no permission"
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
