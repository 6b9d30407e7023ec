package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"rollcall/adapters"
	"rollcall/internal/eventually"
)

// TestWatchLimit: in a user namespace that may watch two folders only, the third
// is a visible problem and the list still right.
func TestWatchLimit(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ROLLCALL_TEST_ROLE=limit", "ROLLCALL_TEST_DIR="+t.TempDir())
	if err := inUserNamespace(cmd); err != nil {
		t.Skip(err)
	}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "not permitted") || errors.Is(err, fs.ErrPermission) {
		skipOrFail(t, "user namespaces are not permitted: "+string(out))
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), "max_user_watches") || !strings.Contains(string(out), "state ok") {
		t.Errorf("health says %s", out)
	}
}

func skipOrFail(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// playLimit is the child of TestWatchLimit.
func playLimit() int {
	if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("1"), 0); err != nil {
		fmt.Println(err)
		return 1
	}
	r := &twoFolders{roster{dir: os.Getenv("ROLLCALL_TEST_DIR")}}
	if err := os.Mkdir(filepath.Join(r.dir, "sub"), 0o700); err != nil {
		fmt.Println(err)
		return 1
	}
	c := New(Config{Adapters: []adapters.Adapter{r}})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	go func() { _ = c.Run(ctx) }()
	for ctx.Err() == nil && len(c.Snapshot().Adapters[0].Problems) == 0 {
		time.Sleep(time.Millisecond)
	}
	h := c.Snapshot().Adapters[0]
	fmt.Println("state", h.State, h.Problems)
	return 0
}

type twoFolders struct{ roster }

func (r *twoFolders) WatchPaths() []string { return []string{r.dir, filepath.Join(r.dir, "sub")} }

// A folder that was watched for one name only, and then for every change, may have
// changed in between: that is to be found by asking again.
func TestWatchedForMore(t *testing.T) {
	f, err := newFolders()
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	dir := t.TempDir()
	s := &source{}
	for _, step := range []struct {
		places places
		added  bool
	}{
		{places{watch: []string{filepath.Join(dir, "missing")}}, true},
		{places{watch: []string{dir}}, true},
		{places{watch: []string{dir}}, false},
		{places{watch: []string{filepath.Join(dir, "missing")}}, false},
	} {
		if again, limits := f.sync(s, wantedBy(&step.places)); slices.Contains(again, s) != step.added || limits != nil {
			t.Errorf("%v: ask again %v, limits %v", step.places.watch, again, limits)
		}
	}
}

func TestAwaited(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]string{
		filepath.Join(dir, "a"):              {dir, "a"},
		filepath.Join(dir, "a", "b", "c"):    {dir, "a"},
		filepath.Join(dir, "x", "..", "new"): {dir, "new"},
		file:                                 {},
		dir:                                  {},
		"relative/path":                      {},
		"ws://127.0.0.1:1":                   {},
	} {
		if parent, name := nearestFolder(path); parent != want[0] || name != want[1] {
			t.Errorf("awaited(%s) = %q, %q", path, parent, name)
		}
	}
}

// TestForeignChangesAreIgnored: in a parent folder only the awaited entry counts.
func TestForeignChangesAreIgnored(t *testing.T) {
	dir := t.TempDir()
	f, err := newFolders()
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	s := &source{}
	if again, limits := f.sync(s, wantedBy(&places{lookedIn: []string{filepath.Join(dir, ".codex", "sessions")}})); len(again) != 1 || limits != nil {
		t.Errorf("limits %v, %d sources to ask again: %v", limits, len(again), f.watched)
	}
	if again, _ := f.sync(s, wantedBy(&places{lookedIn: []string{filepath.Join(dir, ".codex", "sessions")}})); again != nil {
		t.Error("the same places are news")
	}
	for e, want := range map[fsnotify.Event]int{
		{Name: filepath.Join(dir, ".bash_history"), Op: fsnotify.Write}:  0,
		{Name: filepath.Join(dir, ".bash_history"), Op: fsnotify.Create}: 0,
		{Name: filepath.Join(dir, ".codex"), Op: fsnotify.Chmod}:         0,
		{Name: filepath.Join(dir, ".codex"), Op: fsnotify.Create}:        1,
	} {
		if got := len(f.changedSources(e)); got != want {
			t.Errorf("%v touches %d sources", e, got)
		}
	}
	if _, _ = f.sync(s, wantedBy(&places{})); len(f.watched) != 0 || len(f.watcher.notify.WatchList()) != 0 {
		t.Errorf("still watched: %v", f.watcher.notify.WatchList())
	}
}

// lateRoster is a roster that answers its first question when the test lets it.
type lateRoster struct {
	roster
	once          sync.Once
	asked, answer chan struct{}
}

func (l *lateRoster) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	l.once.Do(func() {
		close(l.asked)
		<-l.answer
	})
	return l.roster.Discover(ctx, q)
}

// A question that began before Run does not stand in for Run's first one: its
// answer says nothing of the folders to watch.
func TestAskedBeforeRun(t *testing.T) {
	a := &lateRoster{roster: roster{dir: t.TempDir()}, asked: make(chan struct{}), answer: make(chan struct{})}
	c := New(Config{Adapters: []adapters.Adapter{a}})
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	running.Go(func() { c.Refresh(ctx) })
	<-a.asked
	running.Go(func() { _ = c.Run(ctx) })
	eventually.True(t, "Run takes part in the question", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		s := c.sources[0]
		return c.running && s.flight != nil && (s.flight.waiting == 2 || s.asking == 2)
	})
	close(a.answer)
	eventually.True(t, "the first answer", func() bool { s := c.Snapshot(); return !s.Refreshing && s.Adapters[0].State == OK })
	a.write(t, "new", entry{Status: adapters.Idle})
	eventually.True(t, "the new session", func() bool { return len(c.Snapshot().Sessions()) == 1 })
}

// Two sources want one folder, one of them through a link: the system has one watch
// for both, and its events have one name. Each is told of changes, also after the
// other has left.
func TestOneFolderByTwoPaths(t *testing.T) {
	for _, first := range []string{"the folder", "the link"} {
		t.Run(first+" is watched first", func(t *testing.T) {
			f, err := newFolders()
			if err != nil {
				t.Fatal(err)
			}
			defer f.close()
			dir := t.TempDir()
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(dir, link); err != nil {
				t.Skip(err) // Windows without the right to make links
			}
			paths := []string{dir, link}
			if first == "the link" {
				paths = []string{link, dir}
			}
			leaves, stays := &source{}, &source{}
			f.sync(leaves, wantedBy(&places{watch: paths[:1]}))
			f.sync(stays, wantedBy(&places{watch: paths[1:]}))
			if told := f.told(t, dir, "both"); !slices.Contains(told, leaves) || !slices.Contains(told, stays) {
				t.Errorf("of two sources %d are told of a change", len(told))
			}
			again, _ := f.sync(leaves, nil)
			if !slices.Equal(again, []*source{stays}) {
				t.Errorf("%d sources are asked again after the folder was watched anew", len(again))
			}
			if told := f.told(t, dir, "one"); !slices.Equal(told, []*source{stays}) {
				t.Errorf("%d sources are told of a change after one has left", len(told))
			}
			f.sync(stays, nil)
			if len(f.watched)+len(f.infos)+len(f.sameAs)+len(f.watcher.notify.WatchList()) != 0 {
				t.Errorf("left: %v %v %v", f.watched, f.sameAs, f.watcher.notify.WatchList())
			}
		})
	}
}

// told makes a file in dir and returns the sources that its event is news for.
func (f *folders) told(t *testing.T, dir, name string) []*source {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	timeout := time.After(10 * time.Second)
	for {
		select {
		case e := <-f.watcher.notify.Events:
			if filepath.Base(e.Name) == name && e.Has(fsnotify.Create) {
				return f.changedSources(e)
			}
		case <-timeout:
			return nil
		}
	}
}
