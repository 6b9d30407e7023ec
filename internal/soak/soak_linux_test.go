package soak

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/claudecode"
	"rollcall/adapters/codex"
	"rollcall/adapters/openclaw"
	"rollcall/adapters/opencode"
	"rollcall/adapters/pi"
	"rollcall/adapters/pirust"
	"rollcall/app"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

const (
	limit   = 2 * time.Second  // of one answer; the program's is 5 s
	lagMost = 10 * time.Second // until what changed is shown, on a busy machine
	warmUp  = 8                // samples until all caches have their size
	// leastSamples are taken however long that lasts.
	leastSamples = warmUp + 5
	// recovery is for how long after a slow answer the core lets an agent rest.
	recovery = 6 * time.Second
	growth   = 8 << 20 // bytes that the heap may have grown by at the end
)

func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	length := 20 * time.Second
	if said := os.Getenv("ROLLCALL_SOAK"); said != "" {
		var err error
		if length, err = time.ParseDuration(said); err != nil {
			t.Fatal(err)
		}
	}
	s := newSoak(t)
	s.start()
	for end := time.Now().Add(length); (time.Now().Before(end) || s.samples < leastSamples) && !t.Failed(); {
		s.act()
		s.sample()
		s.fault()
	}
	s.finish()
}

// soak is one run.
type soak struct {
	*testing.T
	world  *scene.Environment
	script *script
	faults map[adapters.Name]*faulty
	core   *app.Core
	seen   map[proc.Identity]bool // shown as alive at a sample
	ends   map[proc.Identity]int  // events that told the end

	stop                func()
	drain               func() // takes the events that came
	rescues             int
	samples             int
	mended              time.Time // when an adapter answered again
	maxLag, maxRecovery time.Duration
	before              resources
	warm                resources
	now                 resources
}

// resources are what must not accumulate.
type resources struct {
	goroutines, descriptors int
	heap                    uint64
}

func measure(t *testing.T) resources {
	t.Helper()
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return resources{runtime.NumGoroutine(), len(open), m.HeapAlloc}
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{T: t, world: scene.New(t), faults: map[adapters.Name]*faulty{}, seen: map[proc.Identity]bool{}, ends: map[proc.Identity]int{}}
	var list []adapters.Adapter
	var names []adapters.Name
	for _, a := range allAdapters(s.world) {
		wrapped, f := withFaults(a)
		list, names = append(list, wrapped), append(names, a.Name())
		s.faults[a.Name()] = f
	}
	seed := uint64(20261121)
	if os.Getenv("ROLLCALL_SOAK_SEED") != "" {
		if _, err := fmt.Sscan(os.Getenv("ROLLCALL_SOAK_SEED"), &seed); err != nil {
			t.Fatal(err)
		}
	}
	s.script = newScript(s.world, names, seed)
	for _, troop := range s.script.troops {
		s.script.begin(troop) // pi_agent_rust shares its folder: without a session it is not there
	}
	watcher, err := proc.NewWatcher(s.world.Table)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { watcher.Close() })
	s.core = app.New(app.Config{Adapters: list, Table: s.world.Table, Watch: watcher, Limit: limit, Since: 7 * 24 * time.Hour, Totals: true})
	return s
}

// allAdapters returns the six, with nothing of this machine's environment.
func allAdapters(w *scene.Environment) []adapters.Adapter {
	return []adapters.Adapter{
		claudecode.New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}),
		codex.New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}),
		opencode.New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}),
		openclaw.New(openclaw.Config{Config: adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}}),
		pi.New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}),
		pirust.New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}),
	}
}

// start lets the core run as the tray does.
func (s *soak) start() {
	s.before = measure(s.T)
	ctx, cancel := context.WithCancel(context.Background())
	events := s.core.Events()
	done := make(chan error, 2)
	go func() { done <- s.core.Run(ctx) }()
	told := make(chan app.Event, 10000)
	go func() {
		for {
			e, err := events.Next(context.Background())
			if err != nil {
				done <- nil
				return
			}
			told <- e
		}
	}()
	s.stop = func() {
		cancel()
		events.Close()
		for range 2 {
			if err := <-done; err != nil {
				s.Error(err)
			}
		}
	}
	s.Cleanup(func() { cancel(); events.Close() })
	s.drain = func() {
		for {
			select {
			case e := <-told:
				if e.Kind == app.Ended && !e.Process.IsZero() {
					s.ends[e.Process]++
				}
			default:
				return
			}
		}
	}
}

// act takes steps for a moment.
func (s *soak) act() {
	for range 10 + s.script.rng.IntN(30) {
		s.script.step()
		time.Sleep(time.Duration(s.script.rng.IntN(40)) * time.Millisecond)
	}
}

// sample waits until what the core shows by itself is the truth, as far as it is
// live, and then looks at everything as when the menu opens.
func (s *soak) sample() {
	s.Helper()
	s.samples++
	begun := time.Now()
	var last []string
	for {
		wrong := s.differences(s.core.Snapshot(), true)
		if len(wrong) == 0 {
			break
		}
		last = wrong
		if time.Since(begun) > lagMost/2 && s.rescue(begun) {
			begun = time.Now()
			continue
		}
		if time.Since(begun) > lagMost {
			s.Fatalf("sample %d: %v after the last change the core still shows: %q\nadapters: %s", s.samples, lagMost, wrong, health(s.core.Snapshot()))
		}
		time.Sleep(5 * time.Millisecond)
	}
	lag, most := time.Since(begun), &s.maxLag
	if time.Since(s.mended) < recovery {
		most = &s.maxRecovery
	}
	if lag > *most {
		*most = lag
		if lag > 2*time.Second && most == &s.maxLag {
			s.Logf("sample %d: shown after %v: %q; %s", s.samples, lag.Round(time.Millisecond), last, health(s.core.Snapshot()))
		}
	}
	s.core.Refresh(s.Context())
	s.askAll("")
	snapshot := s.core.Snapshot()
	if wrong := s.differences(snapshot, false); len(wrong) > 0 {
		s.Fatalf("sample %d: %q\nadapters: %s", s.samples, wrong, health(snapshot))
	}
	for _, h := range snapshot.Adapters {
		if h.State != app.OK || len(h.Problems) > 0 || len(h.Skipped) > 0 {
			s.Errorf("sample %d: %s is %s, problems %q, skipped %v", s.samples, h.Name, h.State, h.Problems, h.Skipped)
		}
	}
	s.checkEnds(snapshot)
	if s.samples == warmUp {
		s.warm = measure(s.T)
	}
}

// askAll asks every adapter but one anew: Refresh is content with an answer under
// way, which is of a moment ago.
func (s *soak) askAll(but adapters.Name) {
	for name := range s.faults {
		if name != but {
			s.core.RefreshOne(s.Context(), name)
		}
	}
}

// rescue opens the menu, once, when an adapter gave no answer in time though
// nothing was done to it: the machine is busy with other things, and the core
// asks again only when something changes.
func (s *soak) rescue(begun time.Time) bool {
	s.Helper()
	for _, h := range s.core.Snapshot().Adapters {
		if h.State == app.Failed && s.rescues < s.samples/10+1 {
			s.rescues++
			s.Logf("sample %d: %v after the last change %s is still %s: %q", s.samples, time.Since(begun), h.Name, h.State, h.Problems)
			s.core.Refresh(s.Context())
			return true
		}
	}
	return false
}

// checkEnds wants one event for each process that was shown and has ended, and
// at most one for the others.
func (s *soak) checkEnds(snapshot *app.Snapshot) {
	s.Helper()
	missing := func() (list []proc.Identity) {
		s.drain()
		for id := range s.seen {
			if s.script.ended[id] && !s.script.resumed[id] && s.ends[id] == 0 {
				list = append(list, id)
			}
		}
		return list
	}
	for end := time.Now().Add(lagMost); len(missing()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("sample %d: no event told the end of %v", s.samples, missing())
		}
	}
	for id, n := range s.ends {
		if n > 1 || !s.script.ended[id] {
			s.Errorf("sample %d: %d events told the end of %v (ended: %v)", s.samples, n, id, s.script.ended[id])
		}
	}
	for id := range s.seen {
		if s.script.ended[id] { // told of, and done with
			delete(s.seen, id)
			delete(s.ends, id)
			delete(s.script.ended, id)
			delete(s.script.resumed, id)
		}
	}
	for i := range snapshot.Sessions() {
		if p := snapshot.Sessions()[i].Process; !p.IsZero() {
			s.seen[p] = true
		}
	}
}

// differences returns in what a picture differs from the truth.
func (s *soak) differences(snapshot *app.Snapshot, liveOnly bool) []string {
	var wrong []string
	truth := s.script.sessions()
	for got := range snapshot.All() {
		k := key(got.Agent, got.ID)
		want := truth[k]
		delete(truth, k)
		switch {
		case liveOnly && got.Status == adapters.Stopped && (want == nil || want.Truth().Status == adapters.Stopped):
		case want == nil:
			wrong = append(wrong, fmt.Sprintf("%s (%s) isn't there: %s", k, got.Status, got.Evidence))
		case scene.TruthOf(&got.Session) != want.Truth():
			wrong = append(wrong, fmt.Sprintf("%s is %s, want %s (it was %v): %s; see %s", k, scene.TruthOf(&got.Session), want.Truth(), want.Past(), got.Evidence, s.keep(want)))
		case got.Stale != nil && s.script.frozen == nil:
			wrong = append(wrong, fmt.Sprintf("%s is stale: %s", k, got.Stale.Reason))
		}
	}
	for k, want := range truth {
		if !liveOnly || want.Truth().Status != adapters.Stopped {
			wrong = append(wrong, fmt.Sprintf("%s (%s) is missing", k, want.Truth()))
		}
	}
	return wrong
}

// keep puts the file of a session aside, for whoever wants to know why a test
// failed, and says where. It does so at the end only: see the caller.
func (s *soak) keep(one *scene.Session) string {
	if one.File == "" || os.Getenv("ROLLCALL_SOAK_KEEP") == "" {
		return one.File
	}
	text, err := os.ReadFile(one.File)
	if err != nil {
		return err.Error()
	}
	path := filepath.Join(os.Getenv("ROLLCALL_SOAK_KEEP"), filepath.Base(one.File))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err.Error()
	}
	return path
}

func health(snapshot *app.Snapshot) string {
	var text string
	for _, h := range snapshot.Adapters {
		text += fmt.Sprintf("%s %s %q in %v, skipped %v; ", h.Name, h.State, h.Problems, h.Elapsed, h.Skipped)
	}
	return text
}

// finish stops the core and looks at what is left.
func (s *soak) finish() {
	s.now = measure(s.T)
	s.stop()
	var after resources
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		after = measure(s.T)
		if after.goroutines <= s.before.goroutines && after.descriptors <= s.before.descriptors || time.Now().After(end) {
			break
		}
	}
	s.Logf("soak: %d samples (%d after an answer too late), %d steps, %d sessions came, %d went, %d rows at the end, max lag %v (%v after a fault), "+
		"heap %.1f MB warm, %.1f MB at the end, goroutines %d before, %d warm, %d at the end, %d after; descriptors %d, %d, %d, %d",
		s.samples, s.rescues, s.script.steps, s.script.came, s.script.went, len(s.core.Snapshot().Sessions()), s.maxLag.Round(time.Millisecond), s.maxRecovery.Round(time.Millisecond),
		float64(s.warm.heap)/(1<<20), float64(s.now.heap)/(1<<20), s.before.goroutines, s.warm.goroutines, s.now.goroutines, after.goroutines,
		s.before.descriptors, s.warm.descriptors, s.now.descriptors, after.descriptors)
	if s.samples < leastSamples {
		s.Errorf("only %d samples", s.samples)
	}
	if s.now.heap > s.warm.heap+growth {
		s.Errorf("the heap grew from %d to %d bytes", s.warm.heap, s.now.heap)
	}
	if after.goroutines > s.before.goroutines {
		stacks := make([]byte, 1<<20)
		s.Errorf("%d goroutines are left, %d were before:\n%s", after.goroutines, s.before.goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	if after.descriptors > s.before.descriptors {
		s.Errorf("%d descriptors are left, %d were before", after.descriptors, s.before.descriptors)
	}
}
