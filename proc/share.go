package proc

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// Share returns the table for several callers that ask at the same time, as all
// adapters do: those who wait for List together share one reading. It begins
// after each of them asked, so that nobody gets rows of before the question.
func Share(table Lister) Lister { return &shared{Lister: table, turn: make(chan struct{}, 1)} }

type shared struct {
	Lister
	turn chan struct{} // one reading at a time

	mu   sync.Mutex
	next *reading // not begun
}

// reading is one List with everybody who waits for it.
type reading struct {
	done chan struct{}
	rows []Process
	err  error
}

// gather is how often the others get to run before a reading begins: callers that
// were started together ask within microseconds.
const gather = 20

// List implements Lister. The rows are the caller's own.
func (s *shared) List(ctx context.Context) ([]Process, error) {
	s.mu.Lock()
	r := s.next
	if r == nil {
		r = &reading{done: make(chan struct{})}
		s.next = r
		go s.read(r)
	}
	s.mu.Unlock()
	select {
	case <-r.done:
		return slices.Clone(r.rows), r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read is done for all who wait, so the context of none ends it.
func (s *shared) read(r *reading) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	for range gather {
		runtime.Gosched()
	}
	s.mu.Lock()
	s.next = nil // who comes from now on waits for the next one
	s.mu.Unlock()
	defer close(r.done)
	r.rows, r.err = s.Lister.List(context.Background())
}
