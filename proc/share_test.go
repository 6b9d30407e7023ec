package proc

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slowTable counts its readings; each tells when it began.
type slowTable struct {
	Lister
	readings atomic.Int64
	began    atomic.Int64
}

func (t *slowTable) List(context.Context) ([]Process, error) {
	t.began.Store(time.Now().UnixNano())
	t.readings.Add(1)
	time.Sleep(10 * time.Millisecond)
	return []Process{{Started: time.Unix(0, t.began.Load())}}, nil
}

// No caller gets a reading that began before its call.
func TestShare(t *testing.T) {
	s := Share(&slowTable{})
	const rounds, callers = 10, 6
	for range rounds {
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				asked := time.Now()
				rows, err := s.List(t.Context())
				if err != nil || len(rows) != 1 || rows[0].Started.Before(asked) {
					t.Errorf("rows of %v, asked at %v: %v", rows, asked, err)
				}
				rows[0].PID = 7 // a caller's rows are its own
			})
		}
		group.Wait()
	}
}

// TestShareTogether: whoever asks together shares few readings. On a clock of its own: with a busy processor callers come one by one.
func TestShareTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &slowTable{}
		s := Share(table)
		const rounds, callers = 10, 6
		for range rounds {
			var group sync.WaitGroup
			for range callers {
				group.Go(func() { _, _ = s.List(t.Context()) })
			}
			group.Wait()
		}
		if n := table.readings.Load(); n > 2*rounds {
			t.Errorf("%d readings for %d rounds of %d callers", n, rounds, callers)
		}
	})
}

// TestShareGathers: callers that come one after another, each a little later than the one before, share one reading.
func TestShareGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &slowTable{}
		s := Share(table)
		var group sync.WaitGroup
		for i := range 5 {
			group.Go(func() {
				time.Sleep(time.Duration(i) * gathering * 9 / 10)
				_, _ = s.List(t.Context())
			})
		}
		group.Wait()
		if n := table.readings.Load(); n != 1 {
			t.Errorf("%d readings", n)
		}
	})
}

// A caller whose time is over does not wait for the reading.
func TestShareCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Share(&slowTable{}).List(ctx); err != context.Canceled { //nolint:errorlint // as it is
		t.Error(err)
	}
}
