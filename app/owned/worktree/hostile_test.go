package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/app/store"
	"rollcall/internal/must"
)

// precious returns a folder outside with a file that must survive.
func precious(w *world) string {
	w.Helper()
	w.write("precious/sub/thesis.txt", "years of work")
	return w.path("precious")
}

func (w *world) survives(dir string) {
	w.Helper()
	if text, err := os.ReadFile(filepath.Join(dir, "sub", "thesis.txt")); string(text) != "years of work" {
		w.Errorf("the folder outside: %q, %v", text, err)
	}
}

// An agent may write to the repository's own folder, to the worktree and beside it.
// What it does there must not make a removal reach a folder outside.
func TestHostile(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(w *world, try, outside string)
		says string
	}{
		"git's record leads elsewhere": {func(w *world, try, outside string) {
			admin := filepath.Join(w.repo, ".git", "worktrees", base(try))
			w.write(filepath.Join(admin, "gitdir"), filepath.Join(outside, ".git")+"\n")
			w.write(filepath.Join(outside, ".git"), "gitdir: "+admin+"\n")
		}, "not where a launch creates it"},
		"git's record leads to a folder of such a name": {func(w *world, try, outside string) {
			named := filepath.Join(w.home, "elsewhere", base(try))
			must.Do(w, errors.Join(os.Mkdir(filepath.Dir(named), 0o755), os.Symlink(outside, named)))
			admin := filepath.Join(w.repo, ".git", "worktrees", base(try))
			w.write(filepath.Join(admin, "gitdir"), filepath.Join(named, ".git")+"\n")
			w.write(filepath.Join(outside, ".git"), "gitdir: "+admin+"\n")
		}, "is a link"},
		"a link in its place": {func(w *world, try, outside string) {
			w.write(filepath.Join(outside, ".git"), "gitdir: "+filepath.Join(w.repo, ".git", "worktrees", base(try))+"\n")
			must.Do(w, errors.Join(os.Rename(try, try+"-moved"), os.Symlink(outside, try)))
		}, "is a link"},
		"another repository in its place": {func(w *world, try, outside string) {
			must.Do(w, errors.Join(os.Rename(try, try+"-moved"), os.Rename(outside, try)))
			w.run(w.home, "init", "--quiet", try)
			must.Do(w, os.Symlink(try, outside))
		}, "not a file that git writes"},
		"everything is ignored": {func(w *world, try, outside string) {
			w.write(filepath.Join(w.repo, ".git", "info", "exclude"), "*\n")
			must.Do(w, os.Rename(outside, filepath.Join(try, "precious")))
			must.Do(w, os.Symlink(filepath.Join(try, "precious"), outside))
		}, "1 ignored file"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			outside, try := precious(w), w.try("cc").Path
			tt.do(w, try, outside)
			p := w.plan(nobody)
			agreed := anyway
			if len(p.Never) == 0 {
				agreed = Consent{Unsure: true} // what the user agrees to lose is theirs to lose
			}
			said := strings.Join(append(p.Never, p.Loses...), "; ")
			if p.Removable(agreed) || !strings.Contains(said, tt.says) {
				t.Errorf("%q", said)
			}
			p.Never = nil // as if it had been done after it was shown
			if got, err := w.open(w.repo).Remove(t.Context(), p, nobody, agreed); err == nil {
				t.Errorf("removed: %+v", got)
			}
			w.survives(outside)
			if w.branches() != "main try/g-000001/cc" {
				t.Error(w.branches())
			}
		})
	}
}

// What is swapped after the last look is not removed, and no link is followed.
func TestRemoveFolder(t *testing.T) {
	w := newWorld(t)
	outside, dir := precious(w), w.path("x")
	w.write("x/own.txt", "")
	looked := must.Get(os.Lstat(dir))(t)
	for _, link := range []string{"x/link", "x/.git"} {
		if err := os.Symlink(outside, w.path(link)); err != nil {
			t.Skip(err)
		}
	}
	must.Do(t, errors.Join(os.Rename(dir, dir+"-moved"), os.Symlink(outside, dir)))
	if err := removeFolder(dir, looked); !errors.Is(err, ErrChanged) {
		t.Errorf("a link in its place: %v", err)
	}
	must.Do(t, errors.Join(os.Remove(dir), os.Rename(outside, dir)))
	if err := removeFolder(dir, looked); !errors.Is(err, ErrChanged) {
		t.Errorf("another folder in its place: %v", err)
	}
	must.Do(t, errors.Join(os.Rename(dir, outside), os.Rename(dir+"-moved", dir)))
	if err := removeFolder(dir, looked); err != nil || !store.Missing(dir) {
		t.Errorf("itself: %v", err)
	}
	w.survives(outside)
}

func FuzzGitFile(f *testing.F) {
	for _, s := range []string{"gitdir: /a/.git/worktrees/x\n", "gitdir: ../x", "gitdir:", "gitdir: a\nb", "", "gitdir: \x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := parseLine("x", text, "gitdir: ")
		if err != nil {
			return
		}
		if path == "" || strings.ContainsAny(path, "\x00\n") || path != filepath.Clean(path) {
			t.Errorf("%q is read as %q", text, path)
		}
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, ".git"), []byte(text), 0o600))
		r := &Repo{git: &Git{path: "/does/not/exist"}, at: dir}
		if _, err := r.registered(t.Context(), Worktree{Path: dir}); err == nil || errors.Is(err, fs.ErrExist) {
			t.Errorf("%q is registered", text)
		}
	})
}
