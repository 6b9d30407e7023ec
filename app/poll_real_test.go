package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/places"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestFolderIsElsewhere: folders are replaced in the ways of which no event reports.
func TestFolderIsElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, base string) // makes base/agent/sessions
		replace func(t *testing.T, base string) // and another one in its place
	}{
		"parent renamed": {makeSessions, func(t *testing.T, base string) {
			must.Do(t, os.Rename(filepath.Join(base, "agent"), filepath.Join(base, "away")))
			makeSessions(t, base)
		}},
		"link points elsewhere": {
			func(t *testing.T, base string) {
				must.Do(t, os.MkdirAll(filepath.Join(base, "one", "sessions"), 0o700))
				must.Do(t, os.MkdirAll(filepath.Join(base, "two", "sessions"), 0o700))
				link(t, filepath.Join(base, "one"), filepath.Join(base, "agent"))
			},
			func(t *testing.T, base string) {
				link(t, filepath.Join(base, "two"), filepath.Join(base, "new"))
				must.Do(t, os.Rename(filepath.Join(base, "new"), filepath.Join(base, "agent")))
			}},
		"deleted and made again": {makeSessions, func(t *testing.T, base string) {
			must.Do(t, os.RemoveAll(filepath.Join(base, "agent")))
			makeSessions(t, base)
		}},
		"target of a link appears": {
			func(t *testing.T, base string) {
				must.Do(t, os.MkdirAll(filepath.Join(base, "disk"), 0o700))
				link(t, filepath.Join(base, "disk", "agent"), filepath.Join(base, "agent"))
			},
			func(t *testing.T, base string) {
				must.Do(t, os.MkdirAll(filepath.Join(base, "disk", "agent", "sessions"), 0o700))
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			c.prepare(t, base)
			r := &roster{dir: filepath.Join(base, "agent", "sessions")}
			core, events := started(t, Config{Adapters: []adapters.Adapter{r}})
			if state := core.Snapshot().Adapters[0].State; state == OK {
				r.write(t, "a", entry{Status: adapters.Idle})
				if e := next(t, events); e.Session.ID != "a" {
					t.Fatalf("before: %+v", e)
				}
			}
			began := time.Now()
			c.replace(t, base)
			r.write(t, "b", entry{Status: adapters.Working})
			for e := next(t, events); e.Session.ID != "b"; e = next(t, events) {
				continue // a is gone
			}
			t.Logf("seen after %v", time.Since(began).Round(time.Millisecond))
			r.write(t, "b", entry{Status: adapters.Waiting})
			if e := next(t, events); e.Kind != Changed || e.Session.Status != adapters.Waiting {
				t.Errorf("the folder is not watched: %+v", e)
			}
		})
	}
}

// TestPlaceIsBackAfterTheAnswer: a folder was away when its adapter answered, and is
// back when it is to be watched: no event reports that.
func TestPlaceIsBackAfterTheAnswer(t *testing.T) {
	there, away := t.TempDir(), filepath.Join(t.TempDir(), "away")
	core := New(Config{Adapters: []adapters.Adapter{&roster{dir: there}}})
	for path, want := range map[string]bool{there: true, away: false} {
		folders := must.Get(places.NewFolders[*source](nil))(t)
		r := newRunner(core)
		r.ctx, r.folders = t.Context(), folders
		s := core.sources[0]
		r.findPlaces(s, &watchList{lookedIn: []string{path}, missing: []string{path}})
		r.watchPlaces(<-r.foundPlaces)
		if path == away { // its parent is watched from now on
			r.pending[s].first = time.Time{}
			r.findPlaces(s, &watchList{lookedIn: []string{path}, missing: []string{path}})
			r.watchPlaces(<-r.foundPlaces)
		}
		if asked := r.pending[s] != nil && !r.pending[s].first.IsZero(); asked != want {
			t.Errorf("%s: asked again: %v, want %v", path, asked, want)
		}
		folders.Close()
		r.poll.timer.Stop()
		if b := r.pending[s]; b != nil {
			b.timer.Stop()
		}
	}
}

func makeSessions(t *testing.T, base string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Join(base, "agent", "sessions"), 0o700))
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil && runtime.GOOS == "windows" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// homes is an adapter that finds the homes of its agents through their processes,
// as real ones do: each has a variable that names its home. Its sessions are
// those of roster, one home each.
type homes struct {
	table proc.Lister

	mu    sync.Mutex
	known []string
}

const homeVariable = "ROLLCALL_TEST_AGENT_HOME"

func (h *homes) Name() adapters.Name { return agentname.Codex }

func (h *homes) home(p *proc.Process) string {
	env, err := h.table.Env(p.Identity)
	if err != nil {
		return ""
	}
	for _, v := range env {
		if home, ok := strings.CutPrefix(v, homeVariable+"="); ok {
			return home
		}
	}
	return ""
}

// OwnsProcess implements adapters.ProcessOwner.
func (h *homes) OwnsProcess(p proc.Process) bool { return h.home(&p) != "" }

func (h *homes) WatchPaths() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.known)
}

func (h *homes) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	rows, err := h.table.List(ctx)
	if err != nil {
		return adapters.Roll{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range rows {
		if home := h.home(&rows[i]); home != "" && !slices.Contains(h.known, home) {
			h.known = append(h.known, home)
		}
	}
	var roll adapters.Roll
	for _, home := range h.known {
		one, _ := (&roster{dir: home, table: h.table}).Discover(ctx, q)
		roll.Sessions = append(roll.Sessions, one.Sessions...)
	}
	for i := range roll.Sessions {
		roll.Sessions[i].Agent = h.Name()
	}
	return roll, nil
}

// TestAgentInANewHome: agents start in homes that were never seen, wait there and
// end. ROLLCALL_NET_RUNS says how many.
func TestAgentInANewHome(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads the variables of other processes")
	}
	runs := 4
	if v := os.Getenv("ROLLCALL_NET_RUNS"); v != "" {
		runs = must.Get(strconv.Atoi(v))(t)
	}
	table := proc.Open()
	watcher := must.Get(proc.NewWatcher(table))(t)
	defer watcher.Close()
	h := &homes{table: table}
	core, events := started(t, Config{Adapters: []adapters.Adapter{h}, Table: table, Watch: watcher})
	var shown, told []time.Duration
	for i := range runs {
		home := t.TempDir()
		id := fmt.Sprint("session", i)
		time.Sleep(time.Duration(i*337%2000) * time.Millisecond) // at any moment between two looks
		began := time.Now()
		process, end := childIn(t, table, home)
		r := &roster{dir: home}
		r.write(t, id, entry{Status: adapters.Working, Process: process})
		if e := next(t, events); e.Kind != Started || e.Session.ID != id || e.Session.Process != process {
			t.Fatalf("%+v", e)
		}
		shown = append(shown, time.Since(began))
		if x, err := findExact(core.Snapshot(), id); err != nil || x.Status != adapters.Working {
			t.Errorf("shown: %+v, %v", x, err)
		}
		began = time.Now()
		r.write(t, id, entry{Status: adapters.Waiting, Process: process})
		if e := next(t, events); e.Kind != Changed || e.Session.Status != adapters.Waiting {
			t.Fatalf("%+v", e)
		}
		told = append(told, time.Since(began))
		r.write(t, id, entry{Status: adapters.Stopped, Outcome: adapters.Completed})
		end()
		for e := next(t, events); e.Kind != Ended; e = next(t, events) {
			if e.Session.ID != id || e.Kind != Changed { // it may be seen to say so before it ends
				t.Fatalf("%+v", e)
			}
		}
	}
	slices.Sort(shown)
	slices.Sort(told)
	t.Logf("%d agents: start → row p50 %v, p99 %v, max %v; then wait → event p99 %v", runs, shown[runs/2].Round(time.Millisecond),
		shown[runs*99/100].Round(time.Millisecond), shown[runs-1].Round(time.Millisecond), told[runs*99/100].Round(time.Millisecond))
}

// childIn is child with a home of its own.
func childIn(t *testing.T, table proc.Lister, home string) (id proc.Identity, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ROLLCALL_TEST_ROLE=sleep", "GORACE=atexit_sleep_ms=0", homeVariable+"="+home)
	return startChild(t, cmd, table)
}
