package corpus_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/usage"
	"rollcall/internal/corpus"
	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/textmatch"
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
	man := must.Get(corpus.Read(dir))(b)
	if len(man.Gateway) > 0 {
		gateway := must.Get(corpus.Serve(dir, man))(b)
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
		b.Run(c.name+"/again", func(b *testing.B) { refreshAgain(b, newCore(), false) })
		b.Run(c.name+"/live", func(b *testing.B) { refreshAgain(b, newCore(), true) })
	}
}

// refreshAgain measures a refresh after the first two: with live until the live sessions are shown, as when the menu opens. The
// processor time includes the refresh of the others, which follows.
func refreshAgain(b *testing.B, core *app.Core, live bool) {
	before := heap()
	mustAnswer(b, core.Refresh(b.Context()))
	mustAnswer(b, core.Refresh(b.Context()))
	var took []time.Duration
	cpu := cpuTime(b)
	for b.Loop() {
		began := time.Now()
		if live {
			core.RefreshLive(b.Context())
			took = append(took, time.Since(began))
		}
		core.Refresh(b.Context())
		if !live {
			took = append(took, time.Since(began))
		}
	}
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/1000/float64(b.N), "ms-cpu/op")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
	b.ReportMetric((heap()-before)/(1<<20), "MiB-kept")
	runtime.KeepAlive(core)
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
		sum += h.Sessions
		if h.State == app.Failed {
			b.Fatal(fmt.Sprint(h.Name, h.Problems))
		}
	}
	if sum == 0 {
		b.Fatal("no sessions")
	}
}

// BenchmarkSearch measures a search of the corpus with warm files: the first hit among the sessions of the last week, and
// a text that is nowhere in anything. Where ripgrep is installed, the latter is also a ratio to its time on the same
// files; it reads the databases as well, as bytes.
func BenchmarkSearch(b *testing.B) {
	dir := benchCorpus(b)
	home := filepath.Join(dir, "home")
	search := func(b *testing.B, text string, since time.Time, limit int) (report app.SearchReport, took time.Duration) {
		p, err := textmatch.Text(text)
		must.Do(b, err)
		table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
		core := app.New(app.Config{Adapters: everyAdapter(b, table, home), Limit: time.Minute})
		began := time.Now()
		report, err = core.Search(b.Context(), app.SearchQuery{SearchQuery: adapters.SearchQuery{Pattern: p}, Since: since, Limit: limit},
			func(app.SearchHit) bool { return true }, nil)
		if err != nil || report.Failed() {
			b.Fatal(err, report.Agents)
		}
		return report, time.Since(began)
	}
	b.Run("week/first", func(b *testing.B) {
		for b.Loop() {
			if r, _ := search(b, "make the build green", time.Now().Add(-7*24*time.Hour), 1); r.Hits != 1 {
				b.Fatal("nothing was found")
			}
		}
	})
	b.Run("all/nothing", func(b *testing.B) {
		cpu, ours := cpuTime(b), time.Duration(0)
		for b.Loop() {
			r, took := search(b, "zzqqxxyy", time.Time{}, 0)
			if r.Hits != 0 || r.Searched == 0 {
				b.Fatalf("%+v", r)
			}
			ours += took
		}
		b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/1000/float64(b.N), "ms-cpu/op")
		if theirs := ripgrep(b, home); theirs > 0 {
			b.ReportMetric(ours.Seconds()/float64(b.N)/theirs.Seconds(), "x-ripgrep")
		}
	})
}

// ripgrep returns how long ripgrep takes for the same text, the second time; 0: it is not installed.
func ripgrep(b *testing.B, home string) time.Duration {
	path, err := exec.LookPath("rg")
	if err != nil {
		return 0
	}
	var took time.Duration
	for range 2 {
		began := time.Now()
		err := exec.CommandContext(b.Context(), path, "-uu", "-i", "-a", "-c", "zzqqxxyy", home).Run()
		var exit *exec.ExitError
		if err == nil || !errors.As(err, &exit) || exit.ExitCode() != 1 {
			b.Fatalf("ripgrep: %v", err)
		}
		took = time.Since(began)
	}
	return took
}

// BenchmarkUsage measures `rollcall usage --since all`: every session with exact totals, by a new core.
func BenchmarkUsage(b *testing.B) {
	dir := benchCorpus(b)
	table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
	cpu := cpuTime(b)
	for b.Loop() {
		cfg := app.Config{Adapters: everyAdapter(b, table, filepath.Join(dir, "home")), Table: table, Since: app.All, Totals: true, Usage: true, Limit: time.Minute}
		if t := usage.Of(app.Ask(b.Context(), cfg, app.Once{Last: true}).Sessions(), usage.Query{By: usage.ByDay}); t.Total.Tokens.Output == 0 {
			b.Fatal("no tokens")
		}
	}
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/1000/float64(b.N), "ms-cpu/op")
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
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
