package proc

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Share returns the table for several callers that ask at the same time, as all
// adapters do: callers that wait for List at the same time share one reading. The
// reading begins after each of them asked, so that no caller gets rows from before its
// question.
func Share(table Lister) Lister { return &sharedTable{Lister: table, readSlot: make(chan struct{}, 1)} }

type sharedTable struct {
	Lister
	readSlot chan struct{} // one reading at a time

	mu   sync.Mutex
	next *reading // not begun
}

// reading is one call of List, with the callers that wait for it.
type reading struct {
	done    chan struct{}
	callers int // guarded by sharedTable.mu
	rows    []Process
	err     error
}

const (
	// gathering is how long a reading waits for further callers. Those that were started together ask one after another, each within less than that
	// after the one before. It is a fraction of what a second reading takes.
	gathering = 500 * time.Microsecond
	// maxGatherings is how many times a reading waits, as long as callers come.
	maxGatherings = 6
)

// List implements Lister. The caller may change the rows.
func (s *sharedTable) List(ctx context.Context) ([]Process, error) {
	s.mu.Lock()
	r := s.next
	if r == nil {
		r = &reading{done: make(chan struct{})}
		s.next = r
		go s.read(r)
	}
	r.callers++
	s.mu.Unlock()
	select {
	case <-r.done:
		return slices.Clone(r.rows), r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read reads the table for all callers that wait, so the context of none of them ends
// it.
func (s *sharedTable) read(r *reading) {
	s.readSlot <- struct{}{}
	defer func() { <-s.readSlot }()
	s.gather(r)
	defer close(r.done)
	r.rows, r.err = s.Lister.List(context.Background())
}

// gather waits for the callers of a reading. Later ones wait for the next reading.
func (s *sharedTable) gather(r *reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, callers := 0, 0; n < maxGatherings && callers < r.callers; n++ {
		callers = r.callers
		s.mu.Unlock()
		<-time.After(gathering)
		s.mu.Lock()
	}
	s.next = nil
}
