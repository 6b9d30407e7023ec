package kit

import (
	"context"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/bounded"
)

// roll is an answer with n sessions.
func roll(n int) (adapters.Roll, error) {
	return adapters.Roll{Sessions: make([]adapters.Session, n)}, nil
}

// A home that was only slow costs nothing: the complete answer is waited for.
func TestSlowHome(t *testing.T) {
	slow, complete := make(chan struct{}), make(chan struct{})
	paths := []string{t.TempDir(), t.TempDir()}
	var l List
	l.Set(paths)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	calls := make(chan int, 2)
	calls <- 1
	calls <- 2
	got, err := l.Ask(ctx, func(_ context.Context, home string) {
		if home == paths[1] {
			<-slow
		}
	}, func() (adapters.Roll, error) {
		if <-calls == 1 {
			<-complete
			return roll(2)
		}
		close(slow)
		close(complete)
		return roll(1)
	})
	if len(got.Sessions) != 2 || err != nil {
		t.Errorf("%d sessions, %v", len(got.Sessions), err)
	}
}

// A home that is stuck is left out of the second call, and not read again while it hangs.
func TestStuck(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	paths := []string{t.TempDir(), t.TempDir()}
	var l List
	l.Set(paths)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		got, err := l.Ask(ctx, func(_ context.Context, home string) {
			if home == paths[1] {
				<-hang
			}
		}, func() (adapters.Roll, error) {
			if !bounded.Answers(paths[1]) {
				return roll(1)
			}
			<-hang
			return roll(0)
		})
		cancel()
		if len(got.Sessions) != 1 || err != nil {
			t.Errorf("%d sessions, %v", len(got.Sessions), err)
		}
	}
}

// A panic reaches the caller, which reports it.
func TestPanic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_, _ = new(List).Ask(t.Context(), nil, func() (adapters.Roll, error) { panic("x") })
}
