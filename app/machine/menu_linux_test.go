package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/internal/must"
	"rollcall/tray/model"
)

// manySessions is a stream of n sessions, up to the complete roll.
func manySessions(n int) string {
	var b strings.Builder
	b.WriteString(hello + "\n")
	for i := range n {
		b.WriteString(sessionLine(fmt.Sprint(i), fmt.Sprintf(`,"last_activity_at":"2026-11-22T10:%02d:%02dZ"`, i/60%60, i%60)) + "\n")
	}
	return b.String() + rollLine + "\n"
}

// TestMenuAsksNoMachine: opening the menu beside 20 machines with 500 sessions each starts nothing for them, sends them nothing and waits
// for none of them, although none answers any more.
func TestMenuAsksNoMachine(t *testing.T) {
	const machines, sessions = 20, 500
	dir := t.TempDir()
	stream := filepath.Join(dir, "stream")
	started := filepath.Join(dir, "started")
	received := filepath.Join(dir, "received")
	must.Do(t, os.WriteFile(stream, []byte(manySessions(sessions)), 0o600))
	command := script(t, fmt.Sprintf("echo >>'%s'; cat '%s'; cat >>'%s'; exec sleep 600\n", started, stream, received))
	var hosts []*Host
	for i := range machines {
		hosts = append(hosts, &Host{Machine: settings.Machine{Name: fmt.Sprint("m", i), Exec: command}})
	}
	all := Of(hosts...)
	core := app.New(app.Config{Adapters: []adapters.Adapter{quickAgent{}}, Machines: all})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	shown := make(chan struct{}, 1)
	defer core.Subscribe(func(s *app.Snapshot) {
		if len(s.Own)+len(s.Others) >= machines*sessions {
			select {
			case shown <- struct{}{}:
			default:
			}
		}
	})()
	go func() {
		defer close(done)
		all.Run(ctx, 0, core)
	}()
	defer func() { cancel(); <-done }()
	<-shown
	for range 50 {
		snap := core.Refresh(ctx)
		menu := model.Build(snap, nil, time.Now())
		if len(snap.Own)+len(snap.Others) != machines*sessions+1 || snap.Refreshing || len(menu.Rows) == 0 {
			t.Fatalf("%d sessions, %d rows, %v", len(snap.Own)+len(snap.Others), len(menu.Rows), snap.Refreshing)
		}
	}
	starts, err := os.ReadFile(started)
	if n := strings.Count(string(starts), "\n"); err != nil || n != machines {
		t.Errorf("%d commands were started for %d machines, %v", n, machines, err)
	}
	if asked, err := os.ReadFile(received); err != nil || len(asked) != 0 {
		t.Errorf("machines were sent %q, %v", asked, err)
	}
}

// TestMenuCopiesNoMachine: opening the menu beside 20 machines with 500 sessions each allocates no more than beside two with 500 each, whose
// rows fill the menu as well.
func TestMenuCopiesNoMachine(t *testing.T) {
	const openings = 50
	cost := func(machines int) (bytes, allocations uint64) {
		core := coreWithMachines(t, machines)
		openMenu(t, core, 1+machines*500)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range openings {
			openMenu(t, core, 1+machines*500)
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / openings, (after.Mallocs - before.Mallocs) / openings
	}
	fewBytes, few := cost(2)
	manyBytes, many := cost(20)
	t.Logf("beside 2 machines %d bytes and %d allocations, beside 20 %d and %d", fewBytes, few, manyBytes, many)
	if manyBytes > fewBytes+2048 || many > few+5 {
		t.Errorf("beside 2 machines %d bytes and %d allocations, beside 20 %d and %d", fewBytes, few, manyBytes, many)
	}
}

// coreWithMachines returns a core with one session of its own and machines with 500 sessions each.
func coreWithMachines(b testing.TB, machines int) *app.Core {
	b.Helper()
	core := app.New(app.Config{Adapters: []adapters.Adapter{quickAgent{}}})
	for i := range machines {
		m := newMirror(fmt.Sprint("m", i))
		m.begin(time.Now())
		for line := range strings.Lines(manySessions(500)) {
			l := must.Get(decode([]byte(strings.TrimSpace(line))))(b)
			m.take(l, time.Now())
		}
		core.ShowMachine(m.roll(), nil)
	}
	return core
}

// openMenu does what opening the menu does: it asks the agents of this machine, and makes the rows.
func openMenu(b testing.TB, core *app.Core, sessions int) {
	snap := core.Refresh(b.Context())
	if n := len(snap.Own) + len(snap.Others); n != sessions {
		b.Fatal(n)
	}
	if len(model.Build(snap, nil, time.Now()).Rows) == 0 {
		b.Fatal("no row")
	}
}

// BenchmarkMenuWithMachines measures how long the menu takes to open and to have new rows beside 20 machines with 500 sessions each, and how many times
// as long that is as without machines, and as beside one machine whose sessions fill the menu as well, in the same run.
func BenchmarkMenuWithMachines(b *testing.B) {
	none := coreWithMachines(b, 0)
	one := coreWithMachines(b, 1)
	many := coreWithMachines(b, 20)
	var alone, beside1, beside20 time.Duration
	measure := func(sum *time.Duration, core *app.Core, sessions int) {
		began := time.Now()
		openMenu(b, core, sessions)
		*sum += time.Since(began)
	}
	b.ReportAllocs()
	for b.Loop() {
		measure(&alone, none, 1)
		measure(&beside1, one, 1+500)
		measure(&beside20, many, 1+20*500)
	}
	b.ReportMetric(float64(alone.Microseconds())/float64(b.N), "µs-alone")
	b.ReportMetric(float64(beside20.Microseconds())/float64(b.N), "µs-beside-20")
	b.ReportMetric(float64(beside20)/float64(alone), "times-alone")
	b.ReportMetric(float64(beside20)/float64(beside1), "times-beside-1")
}
