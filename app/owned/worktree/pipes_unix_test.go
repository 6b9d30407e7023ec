//go:build unix

package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/must"
)

// What git would wait for without end, in the place of a file that it reads, is named, and no answer comes without it. An agent can put it anywhere in its
// repository.
func TestPipesInARepository(t *testing.T) {
	admin := "proj/.git/worktrees/proj-try-g-000001-cc/"
	for _, name := range []string{
		"proj-try-g-000001-cc/.gitignore", "proj-try-g-000001-cc/sub/.gitignore", "proj-try-g-000001-cc/.gitattributes",
		"proj/.git/config", "proj/.git/HEAD", "proj/.git/commondir", "proj/.git/packed-refs", "proj/.git/shallow",
		"proj/.git/info/exclude", "proj/.git/info/attributes", "proj/.git/objects/info/alternates",
		"proj/.git/refs/heads/try/g-000001/cc", "proj/.git/refs/heads/main",
		admin + "HEAD", admin + "index", admin + "gitdir", admin + "commondir", admin + "locked",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.git.patience = 20 * time.Millisecond
			w.try("cc")
			path := w.path(name)
			_ = os.Remove(path)
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must.Do(t, syscall.Mkfifo(path, 0o600))
			said := w.whatList(t.Context())
			if !strings.Contains(said, filepath.Base(path)) || !strings.Contains(said, "named pipe") {
				t.Errorf("%q", said)
			}
		})
	}
}

// A pipe through a link, and one that git does not read.
func TestPipesElsewhere(t *testing.T) {
	w := newWorld(t)
	w.git.patience = 20 * time.Millisecond
	try := w.try("cc").Path
	must.Do(t, syscall.Mkfifo(filepath.Join(try, "mine"), 0o600))
	if said := w.whatList(t.Context()); said != "" {
		t.Errorf("a pipe of the user's: %q", said)
	}
	must.Do(t, os.Symlink(filepath.Join(try, "mine"), w.path("proj/.git/shallow")))
	if said := w.whatList(t.Context()); !strings.Contains(said, "shallow") || !strings.Contains(said, "named pipe") {
		t.Errorf("a link: %q", said)
	}
}

// whatList returns the error of a list, or those of its entries.
func (w *world) whatList(ctx context.Context) string {
	r, err := w.git.Open(ctx, w.repo)
	if err != nil {
		return err.Error()
	}
	list, err := r.List(ctx)
	if err != nil {
		return err.Error()
	}
	var said []string
	for i := range list {
		if list[i].Err != nil {
			said = append(said, list[i].Err.Error())
		}
	}
	if len(list) == 0 {
		said = append(said, "no worktree")
	}
	return strings.Join(said, "; ")
}
