package places

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// A folder that was watched for one name only, and then for every change, may have
// changed in between: that is to be found by asking again.
func TestWatchedForMore(t *testing.T) {
	f := must.Get(NewFolders[string](nil))(t)
	defer f.Close()
	dir := t.TempDir()
	const s = "owner"
	for _, step := range []struct {
		watch []string
		added bool
	}{
		{[]string{filepath.Join(dir, "missing")}, true},
		{[]string{dir}, true},
		{[]string{dir}, false},
		{[]string{filepath.Join(dir, "missing")}, false},
	} {
		if again, limits := f.Sync(s, foldersFor(step.watch, nil)); slices.Contains(again, s) != step.added || limits != nil {
			t.Errorf("%v: ask again %v, limits %v", step.watch, again, limits)
		}
	}
}

func TestAwaited(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string][2]string{
		filepath.Join(dir, "a"):              {dir, "a"},
		filepath.Join(dir, "a", "b", "c"):    {dir, "a"},
		filepath.Join(dir, "x", "..", "new"): {dir, "new"},
		file:                                 {},
		dir:                                  {},
		"relative/path":                      {},
		"ws://127.0.0.1:1":                   {},
	} {
		for parent, in := range foldersFor(nil, []string{path}) {
			if parent != want[0] || !slices.Equal(in.names, want[1:]) {
				t.Errorf("for %s, %q is awaited in %q, want %q", path, in.names, parent, want)
			}
			want = [2]string{}
		}
		if want[0] != "" {
			t.Errorf("%s is not awaited", path)
		}
	}
}

// TestFolderAppearsMeanwhile: a folder that is renamed and made again while it is looked at is watched, or named as missing.
func TestFolderAppearsMeanwhile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows renames no folder that is being looked at")
	}
	base := t.TempDir()
	dir := filepath.Join(base, "agent", "sessions")
	must.Do(t, os.MkdirAll(dir, 0o700))
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			if wanted, missing := Wanted([]string{dir}, []string{dir}); !wanted[dir].all && !slices.Contains(missing, dir) {
				t.Error("neither watched nor missing")
				return
			}
		}
	})
	for range 2000 {
		must.Do(t, os.Rename(filepath.Join(base, "agent"), filepath.Join(base, "away")))
		must.Do(t, os.MkdirAll(dir, 0o700))
		must.Do(t, os.RemoveAll(filepath.Join(base, "away")))
	}
	stop()
	group.Wait()
}

// TestFolderIsGoneMeanwhile: a folder that is removed after it was looked at, and may be back, is looked at again.
func TestFolderIsGoneMeanwhile(t *testing.T) {
	f := must.Get(NewFolders[string](nil))(t)
	defer f.Close()
	dir := filepath.Join(t.TempDir(), "sessions")
	must.Do(t, os.Mkdir(dir, 0o700))
	wanted := foldersFor([]string{dir}, nil)
	must.Do(t, os.Remove(dir))
	if again, limits := f.Sync("owner", wanted); !slices.Equal(again, []string{"owner"}) || limits != nil {
		t.Errorf("refreshed %q, limits %q", again, limits)
	}
}

func foldersFor(watch, lookedIn []string) map[string]Interest {
	wanted, _ := Wanted(watch, lookedIn)
	return wanted
}

// TestForeignChangesAreIgnored: in a parent folder only the awaited entry counts.
func TestForeignChangesAreIgnored(t *testing.T) {
	dir := t.TempDir()
	f := must.Get(NewFolders[string](nil))(t)
	defer f.Close()
	const s = "owner"
	if again, limits := f.Sync(s, foldersFor(nil, []string{filepath.Join(dir, ".codex", "sessions")})); len(again) != 1 || limits != nil {
		t.Errorf("limits %v, %d owners to ask again: %v", limits, len(again), f.watched)
	}
	if again, _ := f.Sync(s, foldersFor(nil, []string{filepath.Join(dir, ".codex", "sessions")})); again != nil {
		t.Error("the same places are news")
	}
	for e, want := range map[fsnotify.Event]int{
		{Name: filepath.Join(dir, ".bash_history"), Op: fsnotify.Write}:  0,
		{Name: filepath.Join(dir, ".bash_history"), Op: fsnotify.Create}: 0,
		{Name: filepath.Join(dir, ".codex"), Op: fsnotify.Chmod}:         0,
		{Name: filepath.Join(dir, ".codex"), Op: fsnotify.Create}:        1,
	} {
		if got := len(f.Changed(e)); got != want {
			t.Errorf("%v touches %d owners", e, got)
		}
	}
	_, _ = f.Sync(s, foldersFor(nil, nil))
	if len(f.watched) != 0 || len(f.watcher.notify.WatchList()) != 0 {
		t.Errorf("still watched: %v", f.watcher.notify.WatchList())
	}
}

// Two owners want one folder, one of them through a link: the system has one watch
// for both, and its events have one name. Each is told of changes, also after the
// other has left.
func TestOneFolderByTwoPaths(t *testing.T) {
	for _, first := range []string{"the folder", "the link"} {
		t.Run(first+" is watched first", func(t *testing.T) {
			f := must.Get(NewFolders[string](nil))(t)
			defer f.Close()
			dir := t.TempDir()
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(dir, link); err != nil {
				t.Skip(err) // Windows without the right to make links
			}
			paths := []string{dir, link}
			if first == "the link" {
				paths = []string{link, dir}
			}
			const leaves, stays = "leaves", "stays"
			f.Sync(leaves, foldersFor(paths[:1], nil))
			f.Sync(stays, foldersFor(paths[1:], nil))
			if told := f.told(t, dir, "both"); !slices.Contains(told, leaves) || !slices.Contains(told, stays) {
				t.Errorf("of two owners %d are told of a change", len(told))
			}
			again, _ := f.Sync(leaves, nil)
			if !slices.Equal(again, []string{stays}) {
				t.Errorf("%d owners are asked again after the folder was watched anew", len(again))
			}
			if told := f.told(t, dir, "one"); !slices.Equal(told, []string{stays}) {
				t.Errorf("%d owners are told of a change after one has left", len(told))
			}
			f.Sync(stays, nil)
			if len(f.watched)+len(f.infos)+len(f.sameAs)+len(f.watcher.notify.WatchList()) != 0 {
				t.Errorf("left: %v %v %v", f.watched, f.sameAs, f.watcher.notify.WatchList())
			}
		})
	}
}

// told makes a file in dir and returns the owners that its event is news for.
func (f *Folders[O]) told(t *testing.T, dir, name string) []O {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	timeout := time.After(eventually.Limit)
	for {
		select {
		case e := <-f.watcher.notify.Events:
			if filepath.Base(e.Name) == name && e.Has(fsnotify.Create) {
				return f.Changed(e)
			}
		case <-timeout:
			return nil
		}
	}
}
