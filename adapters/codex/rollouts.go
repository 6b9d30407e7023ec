package codex

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"rollcall/adapters"
)

// rollout is one rollout file.
type rollout struct {
	path string // with links resolved down to its folder
	id   string // of the thread, from its name
	info fs.FileInfo
	link bool // what it leads to may change unseen
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
	const stamp, uuid = len("2026-11-21T05-26-25-"), 36
	if !ok || len(rest) != stamp+uuid || !isUUID(rest[stamp:]) {
		return "", false
	}
	return rest[stamp:], true
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}

// walk lists a root's rollouts: sessions/Y/M/D and archived_sessions. The depth
// is fixed, so a loop of symbolic links ends. What can't be read is a problem,
// and the rest is listed. wanted decides by the thread's id, before a stat; nil:
// all. Those for which hot is true are looked at even where what is known of the
// others counts (see folders).
func (a *Adapter) walk(ctx context.Context, root string, wanted, hot func(id string) bool, search bool) (found []rollout, problems []error) {
	w := walker{folders: &a.folders, wanted: wanted, hot: hot, all: true, lately: time.Now().Add(-hotTime), seen: map[string]int{}}
	if wanted == nil {
		var swept func()
		if w.all, swept = a.folders.sweep(root, search); w.all {
			defer func() {
				if ctx.Err() == nil {
					swept()
				}
			}()
		}
	}
	var days []string
	for _, year := range w.subfolders(filepath.Join(root, "sessions"), 4) {
		for _, month := range w.subfolders(year, 2) {
			days = append(days, w.subfolders(month, 2)...)
		}
	}
	w.days(ctx, append(days, filepath.Join(root, "archived_sessions")))
	return w.found, w.problems
}

type walker struct {
	folders     *folders
	wanted, hot func(id string) bool
	all         bool      // look at every rollout
	lately      time.Time // or at those written to since
	found       []rollout
	seen        map[string]int // id: index in found
	problems    []error
}

// subfolders returns the paths below path, with links resolved, whose names are
// digits of that number.
func (w *walker) subfolders(path string, digits int) []string {
	f, err := w.folders.look(path)
	if err != nil {
		w.failed(path, err)
		return nil
	}
	var paths []string
	for _, name := range f.names {
		if len(name) == digits && strings.Trim(name, "0123456789") == "" {
			paths = append(paths, filepath.Join(f.path, name))
		}
	}
	return paths
}

// readers is how many files or folders are read at once: a disk has to be kept
// busy.
var readers = min(2*runtime.GOMAXPROCS(0), 8)

// days adds the rollouts in these folders, in their order.
func (w *walker) days(ctx context.Context, dirs []string) {
	found := make([]day, len(dirs))
	work := make(chan int)
	var group sync.WaitGroup
	for range min(len(dirs), readers) {
		group.Go(func() {
			for i := range work {
				found[i] = w.day(dirs[i])
			}
		})
	}
	for i := range dirs {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	group.Wait()
	for _, d := range found {
		for _, r := range d.rollouts {
			w.file(r)
		}
		for _, f := range d.failed {
			w.failed(f.path, f.err)
		}
	}
}

// day is what was found in one folder.
type day struct {
	rollouts []rollout
	failed   []miss
}

type miss struct {
	path string
	err  error
}

func (w *walker) day(dir string) day {
	f, err := w.folders.look(dir)
	if err != nil {
		return day{failed: []miss{{dir, err}}}
	}
	var d day
	changed := false
	for i := range f.rollouts {
		r := f.rollouts[i]
		if w.wanted != nil && !w.wanted(r.id) {
			continue
		}
		if w.all || r.info == nil || r.link || r.info.ModTime().After(w.lately) || w.hot(r.id) {
			if !changed {
				f.rollouts, changed = slices.Clone(f.rollouts), true
			}
			if r.info, err = os.Stat(r.path); err != nil {
				r.info = nil
				d.failed = append(d.failed, miss{r.path, err})
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

// file adds a rollout. Of two of the same thread the unpacked one counts, as for
// Codex, and else the one written last.
func (w *walker) file(r rollout) {
	if r.info.IsDir() {
		return
	}
	if !r.info.Mode().IsRegular() {
		w.failed(r.path, errNotRegular)
		return
	}
	i, again := w.seen[r.id]
	if !again {
		w.seen[r.id] = len(w.found)
		w.found = append(w.found, r)
		return
	}
	have := w.found[i]
	if compressed(have.path) != compressed(r.path) {
		if compressed(have.path) {
			w.found[i] = r
		}
	} else if r.info.ModTime().After(have.info.ModTime()) {
		w.found[i] = r
	}
}

// failed notes what couldn't be read; what isn't there, or no folder, is fine.
func (w *walker) failed(path string, err error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	w.problems = append(w.problems, adapters.Unreadable(path, err))
}
