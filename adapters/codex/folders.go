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

// folders remembers what folders held, until a folder's modification time changes, and
// how the rollouts in them were seen last. It is safe for concurrent use.
//
// Thousands of rollouts are not looked at one by one at every question. A rollout that
// is made, removed, packed or replaced changes its folder's modification time. One that
// is appended to doesn't. But a process that appends has the rollout open or owns its
// writer lock, which is known; or it had, or wrote to it, a moment ago; or it came and
// went since and left a trace in the root: the log of a database, a lock, the history.
// Every rollout is looked at once in sweepAfter.
type folders struct {
	mu       sync.Mutex
	known    map[string]folder
	swept    map[string]sweep     // by root
	lastLive map[string]time.Time // when threads were seen in a process last, of late
}

// folder holds the contents of a folder. It is not changed after it was stored.
type folder struct {
	path     string      // with a link resolved
	info     fs.FileInfo // of the folder
	names    []string    // of what is no rollout
	rollouts []rollout   // as seen last; info is nil where they were not
}

// sweep is a look at every rollout of a root.
type sweep struct {
	at    time.Time
	state dirstate.State
}

const (
	// settled is how old a folder's modification time must be before its names are
	// remembered: within a tick of the file system's clock two changes look as one.
	settled = 2 * time.Second
	// recentTime is for how long after a process had it, or wrote to it, a rollout is
	// looked at every time.
	recentTime = 15 * time.Minute
	sweepAfter = time.Minute
	sweepPause = 2 * time.Second // while something goes on all the time
)

// sweep reports whether every rollout of a root is to be looked at now; done is
// called once that is done.
func (f *folders) sweep(root string, search bool) (all bool, done func()) {
	now := sweep{time.Now(), dirstate.Read(root)}
	f.mu.Lock()
	was := f.swept[root]
	f.mu.Unlock()
	age := now.at.Sub(was.at)
	if !search && age >= 0 && age < sweepAfter && (age < sweepPause || now.state.IsSame(was.state)) {
		return false, nil
	}
	return true, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.swept == nil {
			f.swept = map[string]sweep{}
		}
		f.swept[root] = now
	}
}

// look returns what a folder holds now.
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

// keep remembers a folder, unless the folder changed just now.
func (f *folders) keep(path string, now folder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) > 5000 {
		f.known = map[string]folder{}
	}
	if delete(f.known, path); time.Since(now.info.ModTime()).Abs() > settled {
		f.known[path] = now
	}
}

// noteThreads notes that processes have these threads, and returns all threads that a
// process had within recentTime.
func (f *folders) noteThreads(ids []string) map[string]time.Time {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lastLive == nil {
		f.lastLive = map[string]time.Time{}
	}
	maps.DeleteFunc(f.lastLive, func(_ string, at time.Time) bool { return now.Sub(at) > recentTime })
	for _, id := range ids {
		f.lastLive[id] = now
	}
	return maps.Clone(f.lastLive)
}
