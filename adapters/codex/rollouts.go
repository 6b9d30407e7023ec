package codex

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// folders lists names of folders, remembering each folder's names until its
// modification time changes: rollouts come and go seldom. It is safe for
// concurrent use.
type folders struct {
	mu    sync.Mutex
	known map[string]folder
}

type folder struct {
	mtime time.Time
	names []string
}

// settled is how old a folder's modification time must be before its names are
// remembered: within a tick of the file system's clock two changes look as one.
const settled = 2 * time.Second

func (f *folders) names(path string) ([]string, error) {
	before, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	was, there := f.known[path]
	f.mu.Unlock()
	if there && was.mtime.Equal(before.ModTime()) {
		return was.names, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) > 5000 {
		f.known = map[string]folder{}
	}
	if delete(f.known, path); time.Since(before.ModTime()) > settled {
		f.known[path] = folder{before.ModTime(), names}
	}
	return names, nil
}

// walk lists a root's rollouts: sessions/Y/M/D and archived_sessions. The depth
// is fixed, so a loop of symbolic links ends. What can't be read is a problem,
// and the rest is listed. wanted decides by the thread's id, before a stat.
func (a *Adapter) walk(ctx context.Context, root string, wanted func(id string) bool) (found []rollout, problems []error) {
	w := walker{folders: &a.folders, wanted: wanted, seen: map[string]int{}}
	sessions := filepath.Join(root, "sessions")
	for _, year := range w.subfolders(sessions, 4) {
		for _, month := range w.subfolders(year, 2) {
			for _, day := range w.subfolders(month, 2) {
				if ctx.Err() != nil {
					return w.found, w.problems
				}
				w.files(day)
			}
		}
	}
	w.files(filepath.Join(root, "archived_sessions"))
	return w.found, w.problems
}

type walker struct {
	folders  *folders
	wanted   func(string) bool
	found    []rollout
	seen     map[string]int // id: index in found
	problems []error
}

// subfolders returns the paths below path whose names are digits of that number.
func (w *walker) subfolders(path string, digits int) []string {
	names, err := w.folders.names(path)
	if err != nil {
		w.failed(path, err)
		return nil
	}
	var paths []string
	for _, name := range names {
		if len(name) == digits && strings.Trim(name, "0123456789") == "" {
			paths = append(paths, filepath.Join(path, name))
		}
	}
	return paths
}

func (w *walker) files(dir string) {
	names, err := w.folders.names(dir)
	if err != nil {
		w.failed(dir, err)
		return
	}
	target := ""
	for _, name := range names {
		id, ok := threadID(name)
		if !ok || !w.wanted(id) {
			continue
		}
		if target == "" {
			if target, err = filepath.EvalSymlinks(dir); err != nil {
				w.failed(dir, err)
				return
			}
		}
		w.file(filepath.Join(target, name), id)
	}
}

// file adds a rollout. Of two of the same thread the unpacked one counts, as for
// Codex, and else the one written last.
func (w *walker) file(path, id string) {
	info, err := os.Stat(path)
	if err != nil {
		w.failed(path, err)
		return
	}
	if info.IsDir() {
		return
	}
	if !info.Mode().IsRegular() {
		w.failed(path, errNotRegular)
		return
	}
	r := rollout{path, id, info}
	i, again := w.seen[id]
	if !again {
		w.seen[id] = len(w.found)
		w.found = append(w.found, r)
		return
	}
	have := w.found[i]
	if compressed(have.path) != compressed(path) {
		if compressed(have.path) {
			w.found[i] = r
		}
	} else if info.ModTime().After(have.info.ModTime()) {
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
