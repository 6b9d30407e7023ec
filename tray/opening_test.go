package tray

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/app"
)

// slowCore counts the refreshes. Each takes longer than an opening waits.
type slowCore struct {
	stillCore
	refreshes atomic.Int32
}

func (c *slowCore) RefreshLive(context.Context) *app.Snapshot {
	c.refreshes.Add(1)
	time.Sleep(time.Second)
	return &app.Snapshot{}
}

// TestCallsOfOneOpening: however slow a panel and the adapters are, the calls of one opening ask the adapters once.
func TestCallsOfOneOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		core := &slowCore{}
		m := newMenu(ctx, core, Options{}, cancel)
		m.first()
		defer m.start(func(view) {})()
		closed := func() { m.closed(); m.opening() }
		for _, step := range []struct {
			what  string
			after time.Duration
			call  func()
			want  int32
		}{
			{"the first call", 0, m.opening, 1},
			{"the second, which the panel makes 250 ms after the answer to the first", 250 * time.Millisecond, m.opening, 1},
			{"another opening, after one whose end the panel did not report", time.Second, m.opening, 2},
			{"another opening right after the menu was closed", 0, closed, 3},
			{"two calls at the same time", time.Second, func() { go m.opening(); m.opening() }, 4},
			{"a call while the first waits", time.Second, func() { go m.opening(); time.Sleep(openBudget - time.Millisecond); m.opening() }, 5},
			{"another opening while the first call waits", time.Second, func() { go m.opening(); synctest.Wait(); closed() }, 7},
			{"its second call", sameOpening - time.Millisecond, m.opening, 7},
		} {
			time.Sleep(step.after)
			step.call()
			synctest.Wait()
			if n := core.refreshes.Load(); n != step.want {
				t.Errorf("%s: %d refreshes, want %d", step.what, n, step.want)
			}
		}
		time.Sleep(time.Second) // the last refresh
	})
}
