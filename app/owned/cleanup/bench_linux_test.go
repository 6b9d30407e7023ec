package cleanup

import (
	"fmt"
	"testing"

	"rollcall/internal/must"
)

// BenchmarkScan: a home in which agentctl left two thousand records.
func BenchmarkScan(b *testing.B) {
	w := benchWorld(b, 2000)
	for b.Loop() {
		if items, err := w.Scan(b.Context()); err != nil || len(items) != 2000 {
			b.Fatal(len(items), err)
		}
	}
}

// TestManyAreRemoved: hundreds at once, each judged anew.
func TestManyAreRemoved(t *testing.T) {
	w := benchWorld(t, 300)
	items := must.Get(w.Scan(t.Context()))(t)
	for _, r := range w.Remove(t.Context(), items) {
		if r.Err != nil {
			t.Error(r.Err)
		}
	}
	if again, err := w.Scan(t.Context()); len(again) > 0 || err != nil {
		t.Errorf("%d left, %v", len(again), err)
	}
}

func benchWorld(t testing.TB, n int) *Cleaner {
	t.Helper()
	w := newWorld(t)
	for i := range n {
		w.record(claude, fmt.Sprintf("session-%d", i), 1<<30, nil)
	}
	return w.cleaner()
}
