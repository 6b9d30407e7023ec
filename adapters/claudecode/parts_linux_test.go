package claudecode

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
)

// partly is a context whose time is over at some of the looks at it: the parts of a question have times of their own, so that what comes after a part that
// has ended is done in time.
type partly struct {
	context.Context
	mu     sync.Mutex
	random *rand.Rand
	often  float64
}

func (p *partly) Deadline() (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.random.Float64() < p.often {
		return time.Now().Add(-time.Second), true
	}
	return time.Now().Add(time.Hour), true
}

// TestPartsThatEnd: whatever part of a question was not done in time, no session that runs is said to be stopped, and none is missing without a problem.
func TestPartsThatEnd(t *testing.T) {
	w := newFixture(t)
	const running = 4
	for n := range running {
		dir := filepath.Join(w.home, fmt.Sprintf("proj%d", n))
		p := w.start(dir)
		if n > 0 { // the first has no registry entry
			w.entry(p, id(n), map[string]any{"status": "busy"})
		}
		if n == running-1 { // it was resumed in another folder
			dir = filepath.Join(w.home, "elsewhere")
		}
		w.inProject(dir, n, promptLine("hi"))
	}
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 0))
		ctx := &partly{Context: t.Context(), random: random, often: []float64{0.01, 0.03, 0.1, 0.3, 0.6}[seed%5]}
		roll, err := New(w.config).Discover(ctx, adapters.Query{Once: seed%2 == 0})
		listed := map[string]bool{}
		for _, s := range roll.Sessions {
			listed[s.ID] = true
			if s.Status == adapters.Stopped {
				t.Errorf("seed %d: session %.8s is stopped %s: %s (%v)", seed, s.ID, s.Outcome, s.Evidence, err)
			}
		}
		for n := range running {
			if !listed[id(n)] && err == nil {
				t.Errorf("seed %d: session %d is missing, without an error", seed, n)
			}
		}
		if t.Failed() && seed > 50 {
			return
		}
	}
}
