// Package follow keeps current what a surface shows: the list of sessions, a conversation, the hits of a search. Each has goroutines of its own and delivers its latest
// result on the goroutine of the surface; results that arrive in the meantime are combined, so that neither side falls behind.
package follow

import (
	"context"
	"sync"
)

// Latest delivers values on the goroutine of the surface, until ctx is done. A value that waits there is replaced by the next one.
type Latest[T any] struct {
	ctx     context.Context
	do      func(func())
	deliver func(*T) // called on the goroutine of the surface

	mu    sync.Mutex
	value *T // not delivered yet; nil: none
}

// NewLatest returns a latest that calls do to reach the goroutine of the surface, and deliver there.
func NewLatest[T any](ctx context.Context, do func(func()), deliver func(*T)) *Latest[T] {
	return &Latest[T]{ctx: ctx, do: do, deliver: deliver}
}

// Wake makes the receiver of c run again. It does not block.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Set delivers a value soon.
func (l *Latest[T]) Set(value *T) {
	l.mu.Lock()
	waiting := l.value != nil
	l.value = value
	l.mu.Unlock()
	if waiting {
		return
	}
	l.do(func() {
		l.mu.Lock()
		value := l.value
		l.value = nil
		l.mu.Unlock()
		if l.ctx.Err() == nil {
			l.deliver(value)
		}
	})
}
