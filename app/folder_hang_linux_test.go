package app

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
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
	must.Do(t, os.Mkdir(filepath.Join(behind, "far"), 0o700))
	mount := testfs.Mount(t, behind)
	far, link := filepath.Join(mount.Path, "far"), filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(far, link))

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
			must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
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
	testfs.AwaitHang(t, far)
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
