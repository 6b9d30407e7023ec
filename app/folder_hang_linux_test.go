package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/testfs"
)

// movingRoster is a roster that also names folders to watch that it does not read. It can name others later.
type movingRoster struct {
	*roster
	name  adapters.Name
	mu    sync.Mutex
	watch []string
}

func (a *movingRoster) Name() adapters.Name { return a.name }

func (a *movingRoster) WatchPaths() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append(slices.Clone(a.watch), a.dir)
}

func (a *movingRoster) setWatch(paths ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch = paths
}

// Two adapters have a folder watched, one of them through a link. The folder's file system stops to answer, and the first adapter
// needs its watch no longer, so that the system has to begin one by the link: that call hangs. Run goes on, the changes of other
// folders are noticed, and the folder is watched again once its file system answers.
func TestRunWhileAWatchHangs(t *testing.T) {
	behind := t.TempDir()
	must(t, os.Mkdir(filepath.Join(behind, "far"), 0o700))
	mount := testfs.Mount(t, behind)
	far, link := filepath.Join(mount.Path, "far"), filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(far, link))

	leaves := &movingRoster{roster: &roster{dir: t.TempDir()}, name: agentname.ClaudeCode, watch: []string{far}}
	stays := &movingRoster{roster: &roster{dir: t.TempDir()}, name: agentname.Codex}
	other := &movingRoster{roster: &roster{dir: t.TempDir()}, name: agentname.Pi}
	core, events := started(t, Config{Adapters: []adapters.Adapter{leaves, stays, other}})
	stays.setWatch(link)
	stays.write(t, "linked", entry{Status: adapters.Idle})
	next(t, events)
	asked := func() time.Time { return core.Snapshot().Adapters[1].Answered }
	noticed := func(dir, name string) {
		t.Helper()
		eventually.True(t, "a change in "+dir, func() bool {
			before := asked()
			must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
			for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
				if asked().After(before) {
					return true
				}
			}
			return false
		})
	}
	noticed(far, "one")

	mount.Hang(t)
	awaitHang(t, far)
	leaves.setWatch()
	leaves.write(t, "left", entry{Status: adapters.Idle})
	if e := next(t, events); e.Session.ID != "left" {
		t.Fatalf("%+v", e)
	}
	for _, id := range []string{"a", "b", "c"} {
		other.write(t, id, entry{Status: adapters.Working})
		if e := next(t, events); e.Session.ID != id {
			t.Fatalf("%+v, want an event of %s", e, id)
		}
	}

	mount.Answer(t)
	noticed(far, "two")
}

// A folder's file system stops to answer right before its watch begins: sync returns, the watcher is replaced, and every source has
// its folders watched again by the new one.
func TestWatchIsReplacedWhileOneHangs(t *testing.T) {
	mount := testfs.Mount(t, t.TempDir())
	near := t.TempDir()
	f, err := newFolders()
	must(t, err)
	defer f.close()
	var replaced []error
	f.replaced = func(now *folderWatcher, err error) {
		if now != f.watcher || now == nil {
			t.Errorf("the new watcher is %v", now)
		}
		replaced = append(replaced, err)
	}
	a, b := &source{}, &source{}
	if again, limits := f.sync(a, wantedBy(&places{watch: []string{near}})); len(again) != 1 || limits != nil {
		t.Fatal(again, limits)
	}
	wanted := wantedBy(&places{watch: []string{mount.Path}})
	mount.Hang(t)
	awaitHang(t, mount.Path)
	if again, limits := f.sync(b, wanted); len(again)+len(limits) != 0 || len(replaced) != 1 || !errors.Is(replaced[0], bounded.ErrNoAnswer) {
		t.Errorf("refreshed %v, limits %v, replaced %v", again, limits, replaced)
	}
	if again, _ := f.sync(a, wantedBy(&places{watch: []string{near}})); len(again) != 1 || len(f.watched) != 1 {
		t.Errorf("refreshed %v, watched %v", again, f.watched)
	}
	if told := f.told(t, near, "file"); !slices.Equal(told, []*source{a}) {
		t.Errorf("%d sources are told of a change", len(told))
	}
	p := &places{watch: []string{mount.Path}}
	if wanted, missing := wantedBy(p), missingPlaces(p); len(wanted) != 0 || !slices.Equal(missing, p.watch) {
		t.Errorf("watched %v, looked at again %v", wanted, missing)
	}
	mount.Answer(t)
	eventually.True(t, "the folder's watch", func() bool {
		f.sync(b, wantedBy(p))
		return len(f.watched) == 2
	})
	if len(replaced) != 1 {
		t.Errorf("replaced %v", replaced)
	}
}

// awaitHang waits until the kernel has forgotten what it knew of a path on a file system that hangs.
func awaitHang(t *testing.T, path string) {
	t.Helper()
	eventually.True(t, "the end of the kernel's cache for "+path, func() bool {
		_, err := bounded.Within(t.Context(), time.Second, func() (os.FileInfo, error) { return os.Stat(path) })
		return errors.Is(err, bounded.ErrNoAnswer)
	})
}
