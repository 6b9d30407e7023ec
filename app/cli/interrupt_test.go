package cli

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// An interrupted command that goes on is left soon, and one that takes back what
// is half done much later; one that has ended is not left at all.
func TestLeaveWhenInterrupted(t *testing.T) {
	for _, undoes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan int, 1)
			c := &env{ctx: ctx, deps: Deps{Leave: func(code int) { left <- code }}}
			c.undoes.Store(undoes)
			defer c.leaveWhenInterrupted()()
			cancel()
			began, want := time.Now(), endGrace
			if undoes {
				want = undoGrace
			}
			if code := <-left; code != Interrupted || time.Since(began) != want {
				t.Errorf("left with %d after %v, want %v", code, time.Since(began), want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := &env{ctx: ctx, deps: Deps{Leave: func(int) { t.Error("left after its end") }}}
		stop := c.leaveWhenInterrupted()
		stop()
		cancel()
		time.Sleep(2 * undoGrace)
	})
}
