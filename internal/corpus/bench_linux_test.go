package corpus_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/corpus"
	"rollcall/proc"
)

// benchCorpus returns the corpus at ROLLCALL_CORPUS (see the command make), or else a
// small one, with its gateway.
func benchCorpus(b *testing.B) string {
	dir := os.Getenv("ROLLCALL_CORPUS")
	if dir == "" {
		dir = filepath.Join(b.TempDir(), "corpus")
		o := corpus.Options{Sessions: 1000, Live: 10, Gateway: 20, Seed: 1, Now: time.Now(), Scale: 0.1}
		if _, err := corpus.Write(dir, o); err != nil {
			b.Fatal(err)
		}
	}
	man, err := corpus.Read(dir)
	if err != nil {
		b.Fatal(err)
	}
	if len(man.Gateway) > 0 {
		gateway, err := corpus.Serve(dir, man)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { gateway.Close() })
	}
	return dir
}

// BenchmarkRefresh measures the time from the opening of the menu or the window to the complete
// list, of all agents: the first time, and again while nothing changes.
func BenchmarkRefresh(b *testing.B) {
	dir := benchCorpus(b)
	const week = 7 * 24 * time.Hour
	for _, c := range []struct {
		name string
		cfg  app.Config
	}{
		{"tray", app.Config{}},
		{"window", app.Config{Since: week, Totals: true}},
		{"all", app.Config{Since: app.All, Totals: true}},
	} {
		newCore := func() *app.Core {
			cfg := c.cfg
			cfg.Table = proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
			cfg.Adapters, cfg.Limit = everyAdapter(b, cfg.Table, filepath.Join(dir, "home")), time.Minute
			return app.New(cfg)
		}
		b.Run(c.name+"/first", func(b *testing.B) {
			for b.Loop() {
				mustAnswer(b, newCore().Refresh(b.Context()))
			}
		})
		b.Run(c.name+"/again", func(b *testing.B) {
			before := heap()
			core := newCore()
			mustAnswer(b, core.Refresh(b.Context()))
			mustAnswer(b, core.Refresh(b.Context()))
			var took []time.Duration
			cpu := cpuTime(b)
			for b.Loop() {
				began := time.Now()
				core.Refresh(b.Context())
				took = append(took, time.Since(began))
			}
			b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/1000/float64(b.N), "ms-cpu/op")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
			b.ReportMetric((heap()-before)/(1<<20), "MiB-kept")
			runtime.KeepAlive(core)
		})
	}
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func mustAnswer(b *testing.B, snap *app.Snapshot) {
	b.Helper()
	sum := 0
	for _, h := range snap.Adapters {
		if sum += h.Sessions; h.State == app.Failed {
			b.Fatal(fmt.Sprint(h.Name, h.Problems))
		}
	}
	if sum == 0 {
		b.Fatal("no sessions")
	}
}

// BenchmarkDiscover is each agent's share: of the first answer of a new adapter,
// and of the next ones, while nothing changes.
func BenchmarkDiscover(b *testing.B) {
	dir := benchCorpus(b)
	home := filepath.Join(dir, "home")
	table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
	now := time.Now()
	for n, a := range everyAdapter(b, table, home) {
		for _, q := range []struct {
			name string
			adapters.Query
		}{
			{"live", adapters.Query{Since: now}},
			{"week", adapters.Query{Since: now.Add(-7 * 24 * time.Hour)}},
			{"all", adapters.Query{}},
			{"totals", adapters.Query{Totals: true}},
		} {
			name := string(a.Name()) + "/" + q.name
			b.Run(name+"/first", func(b *testing.B) {
				discover(b, func() adapters.Adapter { return everyAdapter(b, table, home)[n] }, q.Query)
			})
			b.Run(name+"/again", func(b *testing.B) {
				for range 2 {
					_, _ = a.Discover(b.Context(), q.Query)
				}
				discover(b, func() adapters.Adapter { return a }, q.Query)
			})
		}
	}
}

func discover(b *testing.B, adapter func() adapters.Adapter, q adapters.Query) {
	began := cpuTime(b)
	for b.Loop() {
		if _, err := adapter().Discover(b.Context(), q); err != nil && !errors.Is(err, adapters.ErrAbsent) {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-began).Microseconds())/1000/float64(b.N), "ms-cpu/op")
}

// cpuTime returns what the process took of the processors so far.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
