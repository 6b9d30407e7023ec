package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rollcall/adapters"
)

// looked is a context that ends after a number of looks at it.
type looked struct {
	context.Context
	left atomic.Int64
	once sync.Once
	done chan struct{}
}

// atOnceRead is how many files are read at the same time.
const atOnceRead = 6

func endsAfter(ctx context.Context, looks int64) context.Context {
	l := &looked{Context: ctx, done: make(chan struct{})}
	l.left.Store(looks)
	return l
}

func (l *looked) Err() error {
	if l.left.Add(-1) >= 0 {
		return nil
	}
	l.once.Do(func() { close(l.done) })
	return context.DeadlineExceeded
}

func (l *looked) Done() <-chan struct{} { return l.done }

// CutShort asks new adapters that have time for ever more of their files, until one lists all of ids, which are those of stopped sessions, the one that was
// written last first. Each answer must have the sessions written last and say how many of its files are missing, or that folders were not listed;
// check may check more of it.
func CutShort(t *testing.T, newAdapter func() adapters.Adapter, ids []string, files string, check func(roll *adapters.Roll, err error)) {
	t.Helper()
	cut, unlisted := 0, 0
	for looks := int64(1); ; looks += 3 {
		roll, err := newAdapter().Discover(endsAfter(t.Context(), looks), adapters.Query{Once: true})
		listed := map[string]bool{}
		for i := range roll.Sessions {
			listed[roll.Sessions[i].ID] = true
		}
		n := 0
		for _, id := range ids {
			if listed[id] {
				n++
			}
		}
		if check(&roll, err); n == len(ids) && err == nil {
			break
		}
		missing := fmt.Sprintf("%d of %d %s were not read in time", len(ids)-n, len(ids), files)
		switch {
		case n == 0 && errors.Is(err, adapters.ErrTimeout), err != nil && strings.Contains(err.Error(), "folders were not listed in time"):
			unlisted++
		case n == len(ids) && errors.Is(err, adapters.ErrTimeout): // time ran out after the last of them
		case err == nil || !strings.Contains(err.Error(), missing):
			t.Fatalf("%d looks: %v, want %s", looks, err, missing)
		}
		if n > 0 {
			cut++
		}
		for i := n + atOnceRead; i < len(ids); i++ {
			if listed[ids[i]] {
				t.Errorf("%d looks: session %d is listed, of %d", looks, i, n)
			}
		}
	}
	if cut == 0 || unlisted == 0 {
		t.Errorf("time ran out %d times between the first and the last session, %d times before", cut, unlisted)
	}
}
