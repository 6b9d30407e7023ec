package kit

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/proc"
)

// answerTime is the time for an answer where the context has no deadline.
const answerTime = 4500 * time.Millisecond

// List holds the homes that an adapter reads, under the names with which it asks bounded.Answers about them. The zero
// value is empty. It is safe for concurrent use.
type List struct {
	mu    sync.Mutex
	paths []string
}

// Set sets the homes. A folder may be in them under several names.
func (l *List) Set(paths []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paths = slices.Clone(paths)
}

func (l *List) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paths
}

// Ask calls ask, which reads all homes and sets the list, and returns its result. If ask has not returned after a fifth
// of the time until the deadline of ctx, Ask also reads each home separately: alone reads one home with a new adapter (see
// Config) and ends soon after its context. A home for which alone does not return is stuck, and bounded.Answers returns
// false for it until that call returns. Ask then calls ask again, which leaves the stuck homes out and names them, and
// returns its result unless the first call returns before the deadline after all: a home may only be slow. The other call
// is left behind.
func (l *List) Ask(ctx context.Context, alone func(ctx context.Context, home string), ask func() (adapters.Roll, error)) (adapters.Roll, error) {
	left := answerTime
	if deadline, ok := ctx.Deadline(); ok {
		left = max(time.Until(deadline), 0)
	}
	all := inBackground(ask)
	end := time.NewTimer(left)
	defer end.Stop()
	timer := time.NewTimer(left / 5)
	defer timer.Stop()
	select {
	case r := <-all:
		return r.get()
	case <-timer.C:
	}
	if !l.findStuck(left/5, alone) {
		r := <-all
		return r.get()
	}
	partial := inBackground(ask)
	select {
	case r := <-all: // a home was only slow
		return r.get()
	case <-end.C:
	}
	select {
	case r := <-all:
		return r.get()
	case r := <-partial:
		return r.get()
	}
}

// inBackground calls ask on another goroutine.
func inBackground(ask func() (adapters.Roll, error)) <-chan result {
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.panicked = recover() // the caller's goroutine reports it
			done <- r
		}()
		r.roll, r.err = ask()
	}()
	return done
}

// result is what a call of ask returned, or the value with which it panicked.
type result struct {
	roll     adapters.Roll
	err      error
	panicked any
}

func (r *result) get() (adapters.Roll, error) {
	if r.panicked != nil {
		panic(r.panicked)
	}
	return r.roll, r.err
}

// findStuck reads each home separately, all at the same time, and reports whether one is stuck. It takes at most one and a
// half times limit.
func (l *List) findStuck(limit time.Duration, alone func(ctx context.Context, home string)) bool {
	var readings sync.WaitGroup
	var stuck atomic.Bool
	for _, path := range l.all() {
		if !bounded.Answers(path) {
			continue
		}
		readings.Go(func() {
			_, err := bounded.In(path, limit*3/2, func(left context.Context) (struct{}, error) {
				ctx, cancel := context.WithTimeout(left, limit)
				defer cancel()
				alone(ctx, path)
				return struct{}{}, nil
			})
			if err != nil {
				stuck.Store(true)
			}
		})
	}
	readings.Wait()
	return stuck.Load()
}

// Config returns the configuration of an adapter that reads one home alone, without processes and caches.
func Config(home string, table proc.Lister) adapters.Config {
	return adapters.Config{Home: "/nonexistent", Env: func(string) string { return "" }, Table: noProcesses{table},
		Homes: func() []string { return []string{home} }}
}

// noProcesses is a process table without processes.
type noProcesses struct{ proc.Lister }

func (noProcesses) List(context.Context) ([]proc.Process, error) { return nil, nil }

func (noProcesses) Find(int) (proc.Process, error) { return proc.Process{}, proc.ErrGone }

// Asked reports whether a query asks for a session, or for all.
func Asked(q adapters.Query, id string) bool { return len(q.IDs) == 0 || slices.Contains(q.IDs, id) }

// Query returns the query for one home alone. The answer is not used.
func Query(q adapters.Query) adapters.Query {
	q.Once = true
	return q
}
