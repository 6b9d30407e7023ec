package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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

// Whenever time runs out, what runs is listed as it is; of the others those that were written last are, and the answer says how many are missing.
func TestTooManyTranscripts(t *testing.T) {
	const n = 60
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(n), map[string]any{"status": "busy"})
	for i := range n {
		path := w.transcript(i, promptLine("hi"), doneLine("m"))
		at := time.Now().Add(-time.Duration(i+1) * time.Hour)
		w.check(os.Chtimes(path, at, at))
	}
	cut, unlisted := 0, 0
	for looks := int64(10); ; looks += 10 {
		ctx := &spent{Context: t.Context(), done: make(chan struct{})}
		ctx.left.Store(looks)
		roll, err := New(w.config).Discover(ctx, adapters.Query{Once: true})
		listed := map[string]bool{}
		for i := range roll.Sessions {
			listed[roll.Sessions[i].ID] = true
			if s := &roll.Sessions[i]; s.ID == id(n) && s.Status != adapters.Working {
				t.Errorf("%d looks: what runs is %s: %s", looks, s.Status, s.Evidence)
			}
		}
		if !listed[id(n)] {
			t.Errorf("%d looks: what runs is not listed", looks)
		}
		delete(listed, id(n))
		if len(listed) == n && err == nil {
			break
		}
		missing := fmt.Sprintf("%d of %d transcripts were not read in time", n-len(listed), n)
		switch {
		case err != nil && strings.Contains(err.Error(), "1 of 1 folders were not listed in time"):
			unlisted++
		case err == nil || !strings.Contains(err.Error(), missing):
			t.Errorf("%d looks: %v, want %s", looks, err, missing)
		}
		for i := len(listed) + 6; i < n; i++ { // a few are read at the same time
			if listed[id(i)] {
				t.Errorf("%d looks: session %d is listed, of %d", looks, i, len(listed))
			}
		}
		if len(listed) > 0 {
			cut++
		}
	}
	if cut == 0 || unlisted == 0 {
		t.Errorf("time ran out %d times between the first and the last transcript, %d times while they were listed", cut, unlisted)
	}
}

// Registry files that processes left behind are read only as far as they matter: those written last.
func TestTooManyRegistryFiles(t *testing.T) {
	const more = 30
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(0), map[string]any{"status": "busy"})
	dead := w.gone()
	for i := range maxLeftOver + more {
		path := w.path("sessions", fmt.Sprintf("%d.json", 1<<30+i))
		w.write(path, fmt.Sprintf(`{"pid":%d,"sessionId":%q,"version":"2.1.329","procStart":"%d","status":"busy"}`, 1<<30+i, id(i+1), dead.Start))
		at := time.Now().Add(-time.Duration(i+1) * time.Second)
		w.check(os.Chtimes(path, at, at))
	}
	sessions, roll, err := w.discover(adapters.Query{})
	if err != nil {
		t.Error(err)
	}
	w.expect(sessions, 0, "working")
	for i := range maxLeftOver + more {
		if _, listed := sessions[id(i+1)]; listed != (i < maxLeftOver) {
			t.Errorf("session %d of the registry: listed %t", i, listed)
		}
	}
	if skipped := roll.Skipped["registry file of an ended process that was not read"]; skipped != more {
		t.Errorf("%d skipped, want %d", skipped, more)
	}
}
