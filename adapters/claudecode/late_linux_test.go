package claudecode

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/adapters"
)

// spent is a context that ends after a number of looks at it.
type spent struct {
	context.Context
	left atomic.Int64
	once sync.Once
	done chan struct{}
}

func (s *spent) Err() error {
	if s.left.Add(-1) >= 0 {
		return nil
	}
	s.once.Do(func() { close(s.done) })
	return context.DeadlineExceeded
}

func (s *spent) Done() <-chan struct{} { return s.done }

// When time runs out, the sessions that were written last are listed, and the answer says how many are missing.
func TestTooManyTranscripts(t *testing.T) {
	const n = 60
	w := newFixture(t)
	for i := range n {
		path := w.transcript(i, promptLine("hi"), doneLine("m"))
		at := time.Now().Add(-time.Duration(i+1) * time.Hour)
		w.check(os.Chtimes(path, at, at))
	}
	ctx := &spent{Context: t.Context(), done: make(chan struct{})}
	ctx.left.Store(25)
	roll, err := New(w.config).Discover(ctx, adapters.Query{Once: true})
	listed := map[string]bool{}
	for i := range roll.Sessions {
		listed[roll.Sessions[i].ID] = true
	}
	if len(listed) == 0 {
		t.Error("no session is listed")
	}
	for i := n / 2; i < n; i++ { // the context allows fewer
		if listed[id(i)] {
			t.Errorf("session %d is listed, of %d", i, len(listed))
		}
	}
	if want := fmt.Sprintf("%d of %d transcripts were not read in time", n-len(listed), n); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
