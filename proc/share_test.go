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

// TestRows: callers of one question share one reading however late they come, another question has its own, and who asks again gets what is newer.
func TestRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &slowTable{}
		s := Share(table)
		rows := func(ctx context.Context) time.Time {
			list, err := Rows(ctx, s)
			if err != nil || len(list) != 1 || list[0].PID != 0 {
				t.Fatalf("%v, %v", list, err)
			}
			list[0].PID = 7 // a caller's rows are its own
			return list[0].Started
		}
		time.Sleep(time.Second)
		first, second := Together(t.Context()), Together(t.Context())
		read := rows(first)
		for range 5 {
			time.Sleep(time.Second)
			if again := rows(first); again != read || again.Before(Asked(first)) {
				t.Errorf("%v, first %v, asked at %v", again, read, Asked(first))
			}
		}
		asked := time.Now()
		for _, ctx := range []context.Context{Together(second), Apart(first), Together(Apart(first)), t.Context()} {
			if at := rows(ctx); at.Before(asked) || at.Before(Asked(second)) {
				t.Errorf("read at %v, asked at %v", at, asked)
			}
		}
		if again, err := s.List(first); err != nil || again[0].Started.Before(asked) {
			t.Errorf("List takes an old reading: %v, %v", again, err)
		}
		if n := table.readings.Load(); n != 6 {
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
