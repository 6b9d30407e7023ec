package codex

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
)

// rollout is one rollout file.
type rollout struct {
	path string // with links resolved down to its folder
	id   string // of the thread, from its name
	info fs.FileInfo
	link bool // a link, whose target may change unnoticed
}

// threadID returns the thread's id out of a rollout's name:
// rollout-2026-11-21T05-26-25-<uuid>.jsonl, and .jsonl.zst for a packed one.
func threadID(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "rollout-")
	if !ok {
		return "", false
	}
	rest = strings.TrimSuffix(rest, ".zst")
	rest, ok = strings.CutSuffix(rest, ".jsonl")
	const stamp, idLen = len("2026-11-21T05-26-25-"), 36
	if !ok || len(rest) != stamp+idLen || !kit.Is(rest[stamp:]) {
		return "", false
	}
	return rest[stamp:], true
}

// walk lists a root's rollouts: sessions/Y/M/D and archived_sessions. The depth is fixed, so a loop
// of symbolic links ends. Folders and files that can't be read are returned as problems, and the
// others are listed. wanted decides by the thread's id, before a stat; nil: all. A thread for which
// isRecent is true is examined even if the cached state of the others is used (see folders), and after ctx has ended. The newest
// folders are examined first; late is the number of rollouts that were not examined in time.
func (a *Adapter) walk(ctx context.Context, root string, wanted, isRecent func(id string) bool, search bool) (found []rollout, late int, problems []error) {
	w := walker{folders: &a.folders, wanted: wanted, isRecent: isRecent, all: true,
		recentSince: time.Now().Add(-agentfile.RecentTime), seen: map[string]int{}}
	if wanted == nil {
		var swept func()
		w.all, swept = a.folders.sweep(root, search)
		if w.all {
			defer func() {
				if ctx.Err() == nil {
					swept()
				}
			}()
		}
	}
	var days []string
	for _, year := range w.subfolders(ctx, filepath.Join(root, "sessions"), 4) {
		for _, month := range w.subfolders(ctx, year, 2) {
			days = append(days, w.subfolders(ctx, month, 2)...)
		}
	}
	slices.Reverse(days)
	w.days(ctx, append(days, filepath.Join(root, archive)))
	return w.found, w.late, w.problems
}

type walker struct {
	folders          *folders
	wanted, isRecent func(id string) bool
	all              bool      // examine every rollout
	recentSince      time.Time // else only those that were written to since, or that are recent
	found            []rollout
	late             int            // rollouts that were not examined in time
	seen             map[string]int // id: index in found
	problems         []error
}

// subfolders returns the paths below path, with links resolved, whose names are
// digits of that number.
func (w *walker) subfolders(ctx context.Context, path string, digits int) []string {
	f, err := w.folders.look(ctx, path)
	if err != nil {
		w.problems = append(w.problems, readProblem(path, err))
	}
	var paths []string
	for _, name := range f.names {
		if len(name) == digits && strings.Trim(name, "0123456789") == "" {
			paths = append(paths, filepath.Join(f.path, name))
		}
	}
	return paths
}

// days adds the rollouts in these folders, in their order.
func (w *walker) days(ctx context.Context, dirs []string) {
	found := make([]day, len(dirs))
	agentfile.Parallel(len(dirs), func(i int) { found[i] = w.day(ctx, dirs[i]) })
	unlisted := 0
	for _, d := range found {
		for _, r := range d.rollouts {
			w.file(r)
		}
		w.late += d.late
		if d.unlisted {
			unlisted++
		}
		w.problems = append(w.problems, d.problems...)
	}
	w.problems = append(w.problems, kit.NotListed(filepath.Dir(dirs[len(dirs)-1]), unlisted, len(dirs)))
}

// day holds the rollouts found in one folder, and the problems of reading it.
type day struct {
	rollouts []rollout
	problems []error
	late     int  // rollouts that were not examined in time
	unlisted bool // the folder was not listed in time
}

func (w *walker) day(ctx context.Context, dir string) day {
	f, err := w.folders.look(ctx, dir)
	d := day{unlisted: adapters.IsOutOfTime(err)}
	if err != nil && !d.unlisted {
		return day{problems: []error{readProblem(dir, err)}}
	}
	changed := false
	for i := len(f.rollouts) - 1; i >= 0; i-- { // their names begin with a time
		r := f.rollouts[i]
		if w.wanted != nil && !w.wanted(r.id) {
			continue
		}
		if agentfile.Ended(ctx) != nil && !w.isRecent(r.id) {
			d.late++
			continue
		}
		if w.all || r.info == nil || r.link || r.info.ModTime().After(w.recentSince) || w.isRecent(r.id) {
			if !changed {
				f.rollouts, changed = slices.Clone(f.rollouts), true
			}
			r.info, err = os.Stat(r.path)
			if err != nil {
				r.info = nil
				d.problems = append(d.problems, readProblem(r.path, err))
			}
			f.rollouts[i] = r
		}
		if r.info != nil {
			d.rollouts = append(d.rollouts, r)
		}
	}
	if changed {
		w.folders.keep(dir, f)
	}
	return d
}

// file adds a rollout. If a thread has two rollouts, it keeps the uncompressed one, as Codex
// does, or else the one that was written last.
func (w *walker) file(r rollout) {
	if err := agentfile.CheckRegular(r.info); err != nil {
		w.problems = append(w.problems, readProblem(r.path, err))
		return
	}
	i, again := w.seen[r.id]
	if !again {
		w.seen[r.id] = len(w.found)
		w.found = append(w.found, r)
		return
	}
	have := w.found[i]
	isNewer := compressed(have.path) == compressed(r.path) && r.info.ModTime().After(have.info.ModTime())
	if compressed(have.path) && !compressed(r.path) || isNewer {
		w.found[i] = r
	}
}

// readProblem returns the problem of a folder or rollout that could not be read. It returns nil if the path does
// not exist, or if a file has the name of a folder on it.
func readProblem(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return adapters.AsProblem(path, err)
}

// Named implements adapters.Namer. It reads the names of the rollouts.
func (a *Adapter) Named(ctx context.Context, prefix string) ([]string, error) {
	answer := kit.NewAnswer()
	_, roots, _ := a.inUse(ctx, answer)
	var ids []string
	for _, r := range roots {
		fits := func(id string) bool { return strings.HasPrefix(id, prefix) }
		rollouts, _, more := a.walk(ctx, r.path, fits, func(string) bool { return true }, false)
		answer.Problem(more...)
		for _, found := range rollouts {
			ids = kit.AppendNew(ids, found.id)
		}
	}
	return ids, errors.Join(answer.Problems()...)
}

// folders caches the contents of folders until a folder's modification time changes, and the
// last known state of the rollouts in them. It is safe for concurrent use.
//
// Examining thousands of rollouts one by one at every call would take too long. Creating,
// removing, compressing or replacing a rollout changes its folder's modification time, but
// appending to a rollout does not. A rollout in an unchanged folder is examined if a process
// has it open or owns its writer lock, or if a process had it open or wrote to it a moment ago.
// Every rollout is examined if a process began and ended since the last call and left a trace
// in the root: the log of a database, a lock, the history. Every rollout is also examined once
// in dirstate.SweepAfter.
type folders struct {
	known kit.Memo[string, folder]
	swept kit.Memo[string, agentfile.Sweep] // by root

	mu       sync.Mutex
	lastLive map[string]time.Time // when a process was last seen to have each thread; old times are dropped
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
	now := agentfile.BeginDirState(root)
	if was, _ := f.swept.Get(root); !search && was.IsEnough(now) {
		return false, nil
	}
	return true, func() { f.swept.Put(root, now) }
}

// look returns the present contents of a folder. When ctx ends first, it returns what was read by then, and the error of ctx.
func (f *folders) look(ctx context.Context, path string) (folder, error) {
	info, err := os.Lstat(path)
	target := path
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = os.Stat(path)
		if err == nil {
			target, err = agentproc.EvalSymlinks(path)
		}
	}
	if err != nil {
		return folder{}, err
	}
	was, there := f.known.Get(path)
	if there && was.path == target && os.SameFile(was.info, info) && was.info.ModTime().Equal(info.ModTime()) {
		return was, nil
	}
	entries, err := agentfile.Entries(ctx, target)
	if err != nil && !adapters.IsOutOfTime(err) {
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
	if err == nil {
		f.keep(path, now)
	}
	return now, err
}

// keep caches a folder, unless the folder changed just now.
func (f *folders) keep(path string, now folder) {
	if time.Since(now.info.ModTime()).Abs() <= agentfile.Settled {
		now = folder{}
	}
	f.known.Put(path, now)
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
	maps.DeleteFunc(f.lastLive, func(_ string, at time.Time) bool { return now.Sub(at) > agentfile.RecentTime })
	for _, id := range ids {
		f.lastLive[id] = now
	}
	return maps.Clone(f.lastLive)
}
