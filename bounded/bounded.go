// Package bounded makes calls that may never return: no context ends a call into a
// file system that does not answer, such as one whose server is gone. A call that
// takes too long is left behind. It also has buffers that keep a limited number of bytes, and a pause that a context ends.
package bounded

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ErrNoAnswer is returned for a call that was left behind.
var ErrNoAnswer = errors.New("the file system does not answer")

// Each hanging call holds a thread, so their number is limited. Containers can have any number of file systems that hang, which
// must not keep this machine's own from being read: they have a limit of their own.
const (
	most       = 100
	mostInside = 10
)

// inside is how paths begin that lead into containers, as /proc/PID/root/home.
const inside = "/proc/"

// behind holds the calls that were left behind: the time since which each hangs, by
// its key. A key that is a path includes everything below that path.
type behind struct {
	mu    sync.Mutex
	since map[any]time.Time
	// mounts has the mount point that hangs together with a path, by the path.
	mounts map[any]string
	// answered has the paths that have answered before: they are asked again when many calls hang elsewhere.
	answered map[any]bool
}

// request holds the key, the limit and the goroutine of a call.
type request struct {
	behind *behind
	key    any
	limit  time.Duration
	start  func(job func()) // runs the call in another goroutine
	leave  func()           // tells the call that no goroutine waits for it any more; may be nil
}

// await makes a call and waits for it until its limit or the end of ctx. A call that is
// left behind then is recorded under its key until it returns.
func await[T any](ctx context.Context, r request, call func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	began := time.Now()
	b := r.behind
	r.start(func() {
		value, err := call()
		done <- result{value, err}
		b.returned(r.key, began)
	})
	timer := time.NewTimer(r.limit)
	defer timer.Stop()
	err := ErrNoAnswer
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
	}
	if r.leave != nil {
		r.leave()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case r := <-done: // the answer came at the last moment
		return r.value, r.err
	default:
	}
	if b.since == nil {
		b.since = map[any]time.Time{}
	}
	b.since[r.key] = began
	var none T
	return none, err
}

func (b *behind) returned(key any, began time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.since[key].Equal(began) {
		return
	}
	delete(b.since, key)
	if mount, ok := b.mounts[key]; ok {
		delete(b.since, mount)
		delete(b.mounts, key)
	}
}

// spread records that the file system of a path hangs as a whole, as long as the call for the path does: each other path of
// it would cost a wait and a thread more.
func (b *behind) spread(path string) {
	mount := mountOf(path)
	b.mu.Lock()
	defer b.mu.Unlock()
	began, hangs := b.since[path]
	if _, known := b.since[mount]; !hangs || known || mount == "" {
		return
	}
	if b.mounts == nil {
		b.mounts = map[any]string{}
	}
	b.since[mount], b.mounts[path] = began, mount
}

// maxAnswered bounds answered.
const maxAnswered = 10000

func (b *behind) hasAnswered(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answered == nil {
		b.answered = map[any]bool{}
	}
	if len(b.answered) < maxAnswered {
		b.answered[path] = true
	}
}

// hangs reports whether a call with that key must not be made, and since when an
// earlier one hangs.
func (b *behind) hangs(key any) (since time.Time, yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.since) == 0 {
		return time.Time{}, false
	}
	since, yes = b.since[key]
	if yes {
		return since, true
	}
	if path, ok := key.(string); ok {
		for up := filepath.Dir(path); up != path; path, up = up, filepath.Dir(up) {
			since, yes = b.since[up]
			if yes {
				return since, true
			}
		}
	}
	return time.Now(), b.isFull(key)
}

// isFull reports whether so many calls hang that another one of the same kind must not be made.
func (b *behind) isFull(key any) bool {
	isInside := func(key any) bool {
		path, ok := key.(string)
		return ok && strings.HasPrefix(path, inside)
	}
	count := 0
	for k := range b.since {
		if isInside(k) == isInside(key) {
			count++
		}
	}
	limit := most
	if isInside(key) {
		limit = mostInside
	}
	if b.answered[key] {
		limit *= 10 // far below the number of threads that end a program of Go
	}
	return count >= limit
}

func (b *behind) any() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.since) > 0
}
