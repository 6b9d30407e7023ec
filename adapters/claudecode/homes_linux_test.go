package claudecode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/eventually"
	"rollcall/proc"
)

// elsewhere moves a registry entry and the transcript of its session to another
// home.
func (w *fixture) elsewhere(home string, p proc.Process, n int, more map[string]any) {
	w.Helper()
	entry, lines := w.entry(p, id(n), more), w.transcript(n, promptLine("hi"), doneLine("m"))
	for _, path := range []string{entry, lines} {
		rel, err := filepath.Rel(w.path(), path)
		w.check(err)
		w.check(os.MkdirAll(filepath.Dir(filepath.Join(home, rel)), 0o755))
		w.check(os.Rename(path, filepath.Join(home, rel)))
	}
}

// end kills a process that start started and waits until it is gone.
func (w *fixture) end(p proc.Process) {
	w.Helper()
	w.check(syscall.Kill(p.PID, syscall.SIGKILL))
	eventually.True(w.TB, "the end of a process", func() bool { return !w.table.Alive(p.Identity) })
}

// A home that is named by a process which starts while Rollcall runs is looked
// in and watched after the next question, at the latest; one that isn't made yet
// as soon as it is.
func TestHomeOfNewProcess(t *testing.T) {
	for name, linked := range map[string]bool{"folder": false, "link": true} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			a := New(w.config)
			_, _, _ = ask(t, a, adapters.Query{})
			home, named := filepath.Join(w.home, "away", "config"), filepath.Join(w.home, "away", "named")
			w.check(os.MkdirAll(filepath.Dir(home), 0o755))
			if !linked {
				named = home
			}
			p := w.start(filepath.Join(w.home, "p"), "CLAUDE_CONFIG_DIR="+named)
			_, _, _ = ask(t, a, adapters.Query{})
			if got := a.WatchPaths(); !slices.Contains(got, filepath.Dir(named)) {
				t.Errorf("before the home is made %q is watched", got)
			}
			w.check(os.Mkdir(home, 0o755))
			if linked {
				w.check(os.Symlink(home, named))
			}
			_, roll, _ := ask(t, a, adapters.Query{})
			if got := a.WatchPaths(); !slices.Contains(got, named) || !slices.Contains(roll.LookedIn, filepath.Join(home, "sessions")) {
				t.Errorf("watched %q, looked in %q", got, roll.LookedIn)
			}
			w.elsewhere(home, p, 1, map[string]any{"status": "busy"})
			sessions, _, _ := ask(t, a, adapters.Query{})
			w.expect(sessions, 1, "working")
			if got := a.WatchPaths(); !slices.Contains(got, filepath.Join(named, "sessions")) || slices.Contains(got, filepath.Dir(named)) {
				t.Errorf("with its registry %q is watched", got)
			}
			if linked { // the link leads elsewhere from now on
				other := filepath.Join(w.home, "away", "other")
				w.check(os.Mkdir(other, 0o755))
				w.check(os.Remove(named))
				w.check(os.Symlink(other, named))
				if _, roll, _ := ask(t, a, adapters.Query{}); !slices.Contains(roll.LookedIn, filepath.Join(other, "sessions")) {
					t.Errorf("looked in %q", roll.LookedIn)
				}
			}
		})
	}
}

// The user's own folder is watched by its name, so that a link that leads
// elsewhere later is noticed.
func TestOwnHomeIsALink(t *testing.T) {
	w := newFixture(t)
	w.check(os.Rename(w.path(), filepath.Join(w.home, "first")))
	w.check(os.Symlink("first", w.path()))
	a := New(w.config)
	for range 2 {
		if got := a.WatchPaths(); !slices.Equal(got, []string{w.path("sessions")}) {
			t.Errorf("watched %q", got)
		}
		_, _, _ = ask(t, a, adapters.Query{})
	}
}

// A session of a home elsewhere doesn't vanish with its process: the home is
// looked in for another 24 hours.
func TestHomeElsewhereIsRemembered(t *testing.T) {
	w := newFixture(t)
	now := time.Now()
	w.config.Now = func() time.Time { return now }
	a := New(w.config)
	home := filepath.Join(w.home, "work-config")
	p := w.start(filepath.Join(w.home, "p"), "CLAUDE_CONFIG_DIR="+home)
	w.elsewhere(home, p, 1, nil)
	sessions, _, _ := ask(t, a, adapters.Query{})
	w.expect(sessions, 1, "idle completed")
	w.end(p)
	for _, later := range []time.Duration{0, 23 * time.Hour} {
		now = time.Now().Add(later)
		sessions, _, _ = ask(t, a, adapters.Query{})
		w.expect(sessions, 1, "stopped completed")
		if ids, err := a.Named(t.Context(), id(1)[:8]); err != nil || len(ids) != 1 {
			t.Errorf("named %q, %v", ids, err)
		}
	}
	now = time.Now().Add(25 * time.Hour)
	sessions, _, _ = ask(t, a, adapters.Query{})
	if len(sessions) != 0 {
		t.Errorf("after a day: %v", sessions)
	}
	if got := strings.Join(a.WatchPaths(), " "); strings.Contains(got, home) {
		t.Errorf("after a day watched: %s", got)
	}
}

// Another HOME is another home, too.
func TestOtherUserHome(t *testing.T) {
	w := newFixture(t)
	other := filepath.Join(w.home, "someone")
	w.check(os.MkdirAll(filepath.Join(other, ".claude"), 0o755))
	p := w.start(filepath.Join(w.home, "p"), "HOME="+other)
	w.elsewhere(filepath.Join(other, ".claude"), p, 1, map[string]any{"status": "busy"})
	sessions, _, _ := w.discover(adapters.Query{})
	w.expect(sessions, 1, "working")
}

// findHook is a table that calls found after it has looked for a process.
type findHook struct {
	ownTable
	found func(pid int)
}

func (t findHook) Find(pid int) (proc.Process, error) {
	p, err := t.ownTable.Find(pid)
	t.found(pid)
	return p, err
}

// TestHomeMovedWhileRead: a home comes back after its registry was read, or is renamed after that. The answer is of one moment:
// the entry and the transcript are both there, or both missing.
func TestHomeMovedWhileRead(t *testing.T) {
	for name, c := range map[string]struct {
		awayAtFirst  bool
		tool, before string
		after        string // empty: it is not listed
	}{
		"comes back": {true, "WebFetch", "waiting permission", "waiting permission"},
		"is renamed": {false, "AskUserQuestion", "waiting question", ""}, // 2.1.175 calls it a permission in the entry
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			away := w.path() + "-away"
			p := w.start(filepath.Join(w.home, "proj"))
			w.transcript(1, promptLine("hi"), callLine("m1", "t1", c.tool))
			w.entry(p, id(1), map[string]any{"status": "waiting", "waitingFor": "permission prompt"})
			second := filepath.Join(w.home, "work-config")
			other := w.start(filepath.Join(w.home, "p"), "CLAUDE_CONFIG_DIR="+second)
			w.elsewhere(second, other, 2, nil)
			move := func(int) {}
			w.config.Table = findHook{w.ownTable(), func(pid int) { move(pid) }}
			a := New(w.config)
			sessions, _, _ := ask(t, a, adapters.Query{})
			w.expect(sessions, 1, c.before)
			from := w.path()
			to := away
			at := p.PID
			if c.awayAtFirst { // the registry of the second home is read after that of the first
				w.check(os.Rename(from, to))
				from = away
				to = w.path()
				at = other.PID
			}
			move = func(pid int) {
				if pid == at {
					move = func(int) {}
					w.check(os.Rename(from, to))
				}
			}
			sessions, _, _ = ask(t, a, adapters.Query{})
			w.expect(sessions, 2, "idle completed")
			if c.after != "" {
				w.expect(sessions, 1, c.after)
			} else if s, listed := sessions[id(1)]; listed {
				t.Errorf("listed as %s %s: %s", s.Status, s.WaitingFor, s.Evidence)
			}
		})
	}
}

// TestNamedHome: a home that the user named is read without a process, until the user removes it; one that is missing changes nothing.
func TestNamedHome(t *testing.T) {
	w := newFixture(t)
	other := filepath.Join(t.TempDir(), "profile")
	file := w.transcript(1, promptLine("hi"), doneLine("m"))
	rel, err := filepath.Rel(w.path(), file)
	w.check(err)
	w.check(os.MkdirAll(filepath.Dir(filepath.Join(other, rel)), 0o755))
	w.check(os.Rename(file, filepath.Join(other, rel)))
	var named []string
	w.config.Homes = func() []string { return slices.Clone(named) }
	a := New(w.config)
	for _, homes := range [][]string{{filepath.Join(other, "missing"), other}, nil} {
		named = homes
		roll, err := a.Discover(t.Context(), adapters.Query{})
		w.check(err)
		if found := slices.ContainsFunc(roll.Sessions, func(s adapters.Session) bool { return s.ID == id(1) }); found != (homes != nil) {
			t.Errorf("homes %q: found %v", homes, found)
		}
	}
}
