package codex

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rollcall/adapters/internal/container"
	"rollcall/adapters/internal/dirstate"
)

// folders caches the contents of folders until a folder's modification time changes,
// and the last known state of the rollouts in them. It is safe for concurrent use.
//
// Thousands of rollouts are not examined one by one at every call. Creating, removing,
// compressing or replacing a rollout changes its folder's modification time. Appending
// to one doesn't. But a process that appends has the rollout open or owns its writer
// lock, which is known; or it had it open, or wrote to it, a moment ago; or it began
// and ended since then and left a trace in the root: the log of a database, a lock, the
// history. Every rollout is examined once in dirstate.SweepAfter.
type folders struct {
	mu       sync.Mutex
	known    map[string]folder
	swept    map[string]dirstate.Sweep // by root
	lastLive map[string]time.Time      // when threads were seen in a process last, for a while
}

// folder holds the contents of a folder. It is not changed after it was stored.
type folder struct {
	path     string      // with a link resolved
	info     fs.FileInfo // of the folder
	names    []string    // of entries that are not rollouts
	rollouts []rollout   // as last examined; info is nil for those that were not
}

// sweep reports whether every rollout of a root must be examined now. The caller calls
// done afterwards.
func (f *folders) sweep(root string, search bool) (all bool, done func()) {
	now := dirstate.Begin(root)
	f.mu.Lock()
	was := f.swept[root]
	f.mu.Unlock()
	if !search && was.IsEnough(now) {
		return false, nil
	}
	return true, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.swept == nil {
			f.swept = map[string]dirstate.Sweep{}
		}
		f.swept[root] = now
	}
}

// look returns the present contents of a folder.
func (f *folders) look(path string) (folder, error) {
	info, err := os.Lstat(path)
	target := path
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(path); err == nil {
			target, err = container.EvalSymlinks(path)
		}
	}
	if err != nil {
		return folder{}, err
	}
	f.mu.Lock()
	was, there := f.known[path]
	f.mu.Unlock()
	if there && was.path == target && os.SameFile(was.info, info) && was.info.ModTime().Equal(info.ModTime()) {
		return was, nil
	}
	entries, err := os.ReadDir(target)
	if err != nil {
		return folder{}, err
	}
	now := folder{path: target, info: info}
	for _, e := range entries {
		if id, ok := threadID(e.Name()); ok {
			now.rollouts = append(now.rollouts, rollout{path: filepath.Join(target, e.Name()), id: id,
				link: e.Type()&fs.ModeSymlink != 0})
		} else {
			now.names = append(now.names, e.Name())
		}
	}
	f.keep(path, now)
	return now, nil
}

// keep caches a folder, unless the folder changed just now.
func (f *folders) keep(path string, now folder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) > 5000 {
		f.known = map[string]folder{}
	}
	if delete(f.known, path); time.Since(now.info.ModTime()).Abs() > dirstate.Settled {
		f.known[path] = now
	}
}

// noteThreads records that processes have these threads, and returns all threads that a
// process had within dirstate.RecentTime.
func (f *folders) noteThreads(ids []string) map[string]time.Time {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lastLive == nil {
		f.lastLive = map[string]time.Time{}
	}
	maps.DeleteFunc(f.lastLive, func(_ string, at time.Time) bool { return now.Sub(at) > dirstate.RecentTime })
	for _, id := range ids {
		f.lastLive[id] = now
	}
	return maps.Clone(f.lastLive)
}
