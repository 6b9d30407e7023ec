package claudecode

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
)

// benchFixture has a thousand sessions of 20 projects, nine tenths of them older
// than a week, ten live.
func benchFixture(b *testing.B) *fixture {
	w := newFixture(b)
	r := rand.New(rand.NewPCG(1, 2))
	content := wholeConversation(r, 3<<20)
	live := make([]string, 10)
	for n := range 1000 {
		size := min(len(content), 20_000+int(100_000*r.ExpFloat64()))
		path := w.path("projects", fmt.Sprintf("-home-dev-p%d", n%20), id(n)+".jsonl")
		w.write(path, content[:size])
		age := 8*24*time.Hour + time.Duration(n)*time.Hour
		if n%10 == 0 {
			age = time.Duration(n) * time.Minute
		}
		w.check(os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
	}
	for n := range live {
		w.entry(w.start(filepath.Join(w.home, fmt.Sprint("p", n))), id(n*100), map[string]any{"status": "busy"})
	}
	return w
}

// BenchmarkDiscover: cold is a new adapter with the files in the page cache.
func BenchmarkDiscover(b *testing.B) {
	w := benchFixture(b)
	week := adapters.Query{Since: time.Now().Add(-7 * 24 * time.Hour)}
	for _, c := range []struct {
		name string
		warm bool
		q    adapters.Query
	}{
		{"cold/week", false, week}, {"cold/all", false, adapters.Query{}}, {"cold/totals", false, adapters.Query{Totals: true}},
		{"warm/week", true, week}, {"warm/all", true, adapters.Query{}}, {"warm/totals", true, adapters.Query{Totals: true}},
		{"warm/one", true, adapters.Query{IDs: []string{id(100)}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			a := New(w.config)
			if c.warm {
				if _, err := a.Discover(b.Context(), c.q); err != nil {
					b.Fatal(err)
				}
				_, _ = a.Discover(b.Context(), adapters.Query{})
			}
			b.ReportAllocs()
			for b.Loop() {
				if !c.warm {
					a = New(w.config)
				}
				if _, err := a.Discover(b.Context(), c.q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
