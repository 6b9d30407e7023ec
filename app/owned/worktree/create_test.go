package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/app/store"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

func TestCreate(t *testing.T) {
	w := newWorld(t)
	w.write("proj/a.txt", "not committed")
	r := w.open(filepath.Join(w.repo, "sub"))
	made := must.Get(create(t.Context(), r, "g-a1b2c3", []string{"cc", "codex"}))(t)
	if len(made) != 2 || made[0].Path != w.repo+"-try-g-a1b2c3-cc" || made[1].Branch != "try/g-a1b2c3/codex" ||
		made[0].Folder != filepath.Join(made[0].Path, "sub") {
		t.Errorf("%+v", made)
	}
	if text, err := os.ReadFile(filepath.Join(made[0].Path, "a.txt")); string(text) != "one\ntwo\nthree\n" {
		t.Errorf("%q, %v: not the commit's", text, err)
	}
	if got := w.branches(); got != "main try/g-a1b2c3/cc try/g-a1b2c3/codex" {
		t.Error(got)
	}
}

// TestCreateUndoes: all or none, and nothing of others is touched.
func TestCreateUndoes(t *testing.T) {
	w := newWorld(t)
	taken := w.repo + "-try-g-000001-codex"
	w.write(taken+"/mine.txt", "mine")
	_, err := create(t.Context(), w.open(w.repo), "g-000001", []string{"cc", "codex"})
	if err == nil || !strings.Contains(err.Error(), taken+" already exists") {
		t.Error(err)
	}
	if got := w.branches(); got != "main" || !store.Missing(w.repo+"-try-g-000001-cc") || store.Missing(taken+"/mine.txt") {
		t.Errorf("branches %s", got)
	}
	w.run(w.repo, "branch", "try/g-000002/codex")
	_, err = create(t.Context(), w.open(w.repo), "g-000002", []string{"cc", "codex"})
	if err == nil || !strings.Contains(err.Error(), "try/g-000002/codex already exists") || w.branches() != "main try/g-000002/codex" {
		t.Errorf("%v; branches %s", err, w.branches())
	}
	w.run(w.repo, "branch", "-D", "try/g-000002/codex")
	// A hook that fails, after the checkout.
	w.write("proj/.git/hooks/post-checkout", "#!/bin/sh\necho no >&2\nexit 1\n")
	must.Do(t, os.Chmod(filepath.Join(w.repo, ".git/hooks/post-checkout"), 0o755))
	_, err = create(t.Context(), w.open(w.repo), "g-000003", []string{"cc"})
	if err == nil || w.branches() != "main" || !store.Missing(w.repo+"-try-g-000003-cc") {
		t.Errorf("%v; branches %s", err, w.branches())
	}
}

// TestCreateInterrupted: what was made before ctx ended is taken back all the same.
func TestCreateInterrupted(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.write("proj/.git/hooks/post-checkout", "#!/bin/sh\necho $$ > "+w.home+"/began\nexec sleep 60\n")
	must.Do(t, os.Chmod(filepath.Join(w.repo, ".git/hooks/post-checkout"), 0o755))
	r := w.open(w.repo)
	done := make(chan error, 1)
	go func() { _, err := create(ctx, r, "g-000001", []string{"cc"}); done <- err }()
	eventually.True(t, "what is due", func() bool { return !store.Missing(w.path("began")) })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if w.branches() != "main" || !store.Missing(w.repo+"-try-g-000001-cc") {
		t.Errorf("branches %s", w.branches())
	}
}

func TestCreateFromNothing(t *testing.T) {
	w := newWorld(t)
	w.run(w.home, "init", "--quiet", "empty")
	if _, err := create(t.Context(), w.open(w.path("empty")), "g-1", []string{"cc"}); err == nil || !strings.Contains(err.Error(), "make a first commit") {
		t.Error(err)
	}
	if _, err := w.git.Open(t.Context(), w.home); !errors.Is(err, ErrNoRepository) {
		t.Error(err)
	}
	if _, err := w.git.Open(t.Context(), w.path("nowhere")); err == nil || !strings.Contains(err.Error(), "no such folder") {
		t.Error(err)
	}
	if _, err := create(t.Context(), w.open(w.repo), "../x", []string{"cc"}); err == nil {
		t.Error("a group that leads elsewhere is accepted")
	}
}

func TestNoGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := FindGit(); !errors.Is(err, ErrNoGit) {
		t.Error(err)
	}
}

// TestOtherShapes: repositories that aren't a folder with a .git in it.
func TestOtherShapes(t *testing.T) {
	w := newWorld(t)
	w.run(w.home, "clone", "--quiet", "--bare", w.repo, "bare.git")
	made, err := create(t.Context(), w.open(w.path("bare.git")), "g-000001", []string{"cc"})
	if err != nil || made[0].Path != w.path("bare-try-g-000001-cc") {
		t.Fatal(made, err)
	}
	for _, dir := range []string{"bare.git", "bare-try-g-000001-cc"} {
		list, err := w.open(w.path(dir)).List(t.Context())
		if err != nil || len(list) != 1 || list[0].Base.Name != "main" || list[0].Err != nil {
			t.Errorf("from %s: %+v, %v", dir, list, err)
		}
	}

	w.run(w.home, "init", "--quiet", "-b", "main", "outer")
	w.run(w.path("outer"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.repo, "lib")
	w.commit(w.path("outer"), "with lib")
	lib := w.path("outer/lib")
	made, err = create(t.Context(), w.open(lib), "g-000001", []string{"cc"})
	if err != nil || made[0].Path != lib+"-try-g-000001-cc" {
		t.Fatal(made, err)
	}
	if r := w.open(made[0].Path); r.Main != lib {
		t.Errorf("from a worktree of the submodule: %s, want %s", r.Main, lib)
	}

	// A worktree of a worktree lies beside the repository, and starts where the
	// folder is.
	w.try("cc")
	tried := w.repo + "-try-g-000001-cc"
	w.write(tried+"/new.txt", "x")
	at := w.commit(tried, "second")
	made, err = create(t.Context(), w.open(tried), "g-000002", []string{"pi"})
	if err != nil || made[0].Path != w.repo+"-try-g-000002-pi" || w.run(made[0].Path, "rev-parse", "HEAD") != at {
		t.Error(made, err)
	}
}
