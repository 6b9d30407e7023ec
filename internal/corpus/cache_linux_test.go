package corpus_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/app"
	"rollcall/app/store"
	"rollcall/proc"
)

// factsIn returns a cache of facts in a folder, as the program has it. What it reports fails the test.
func factsIn(t testing.TB, dir string) *adapters.FactsCache {
	return adapters.NewFactsCache(func(create bool) (adapters.FactsFolder, error) {
		open := store.OpenDir
		if create {
			open = store.MakeDir
		}
		d, err := open(dir)
		if err != nil {
			return nil, err
		}
		return d, nil
	}, "test", slog.New(slog.NewTextHandler(reports{t}, nil)))
}

type reports struct{ testing.TB }

func (r reports) Write(line []byte) (int, error) {
	r.Errorf("the cache reports: %s", line)
	return len(line), nil
}

// BenchmarkCache measures `rollcall list --all` by a new core with the cache that an earlier one left.
func BenchmarkCache(b *testing.B) {
	dir := benchCorpus(b)
	table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
	everyAdapter(b, table, filepath.Join(dir, "home")) // clears the environment
	for name, since := range map[string]time.Duration{"week": 7 * 24 * time.Hour, "all": app.All} {
		b.Run(name, func(b *testing.B) {
			folder := filepath.Join(b.TempDir(), "facts")
			list := func() {
				agents := all.New(table, all.Config{Home: filepath.Join(dir, "home"), Facts: factsIn(b, folder)})
				mustAnswer(b, app.Ask(b.Context(), app.Config{Adapters: agents, Table: table, Since: since, Totals: true, Limit: time.Minute}, app.Once{Last: true}))
			}
			list()
			b.ResetTimer()
			cpu := cpuTime(b)
			for b.Loop() {
				list()
			}
			b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/1000/float64(b.N), "ms-cpu/op")
		})
	}
}
