package corpus_test

import (
	"math"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"rollcall/app"
	"rollcall/internal/corpus"
	"rollcall/proc"
)

// mostKept is how many bytes a list that is asked for once may keep for each stored
// session: the session itself, with what it says, and a share of what is fixed.
const mostKept = 1350

// A list that is asked for once keeps each session once, and nothing else of it:
// 120,000 have to fit into 250 MB together with what reading them takes.
func TestMemoryOfAList(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "corpus")
	if _, err := corpus.Write(dir, corpus.Options{Sessions: 1500, Live: 10, Seed: 3, Now: time.Now(), Scale: 0.01}); err != nil {
		t.Fatal(err)
	}
	table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
	ask := func() *app.Snapshot {
		return app.Ask(t.Context(), app.Config{Adapters: everyAdapter(t, table, filepath.Join(dir, "home")), Table: table,
			Since: app.All, Totals: true, Limit: 10 * time.Minute}, app.Once{Last: true})
	}
	ask() // what is made once and for all
	before := settledHeap()
	snap := ask()
	kept := (settledHeap() - before) / float64(len(snap.Sessions()))
	t.Logf("%.0f bytes a session", kept)
	if len(snap.Sessions()) < 1500 || kept > mostKept {
		t.Errorf("%d sessions take %.0f bytes each, want at most %d", len(snap.Sessions()), kept, mostKept)
	}
	runtime.KeepAlive(snap)
}

// settledHeap is the heap after pools, finalizers and goroutines that end have given theirs back, which they do a little later.
func settledHeap() float64 {
	least := math.Inf(1)
	for range 20 {
		least = min(least, heap())
	}
	return least
}
