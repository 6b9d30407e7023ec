package kit

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// Chat is a session's file as its folder shows it.
type Chat struct {
	Path string
	Info fs.FileInfo
}

// Stat returns the regular file at a path. ok is false for anything else; what can't be read is added to the answer.
func (a *Answer) Stat(path string) (chat Chat, ok, hidden bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return chat, false, a.Failed(path, err)
	case !info.Mode().IsRegular():
		a.Skip("no regular file", 1)
		return chat, false, false
	}
	return Chat{path, info}, true, false
}

// Failed adds the problem that a path could not be read, and reports whether that may hide sessions. What is gone, and a file in the place
// of a folder, hides nothing.
func (a *Answer) Failed(path string, err error) (hides bool) {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, agentfile.ErrNotRegular) {
		return false
	}
	if info, cause := os.Stat(path); cause == nil && filepath.Ext(path) == "" && !info.IsDir() {
		return false
	}
	a.Problem(adapters.AsProblem(path, err))
	return true
}

// Folders calls do for each folder in root, also through links, as long as there is time, and reports whether all were seen.
func (a *Answer) Folders(ctx context.Context, root string, do func(ctx context.Context, name string)) (all bool) {
	ctx, cancel := Part(ctx, 2)
	defer cancel()
	entries, err := agentfile.Entries(ctx, root)
	all = !a.Failed(root, err)
	unlisted := 0
	for _, e := range entries {
		switch {
		case !e.IsDir() && e.Type()&fs.ModeSymlink == 0:
		case agentfile.Ended(ctx) != nil:
			unlisted++
		default:
			do(ctx, e.Name())
		}
	}
	a.Problem(NotListed(root, unlisted, len(entries)))
	return all && unlisted == 0
}

// NewestFirst sorts files by the time of their last change.
func NewestFirst[T any](files []T, chat func(T) *Chat) {
	slices.SortFunc(files, func(x, y T) int {
		a, b := chat(x), chat(y)
		return cmp.Or(b.Info.ModTime().Compare(a.Info.ModTime()), strings.Compare(b.Path, a.Path))
	})
}

// ReadAll reads files, the first ones first, as long as there is time, and calls done with each and its facts, in order.
func ReadAll[F any, T any, P Gatherer[T]](ctx context.Context, t *Transcripts[T, P], files []F, once bool, chat func(F) *Chat, done func(F, T, error)) {
	ctx, cancel := ReadingTime(ctx, len(files))
	defer cancel()
	facts, errs := make([]T, len(files)), make([]error, len(files))
	agentfile.Parallel(len(files), func(i int) {
		c := chat(files[i])
		facts[i], errs[i] = t.Read(ctx, c.Path, c.Info, once)
	})
	for i, f := range files {
		done(f, facts[i], errs[i])
	}
}
