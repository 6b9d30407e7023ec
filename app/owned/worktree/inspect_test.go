package worktree

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/internal/must"
)

// TestLosses: everything that a removal could lose is found, and nothing else.
func TestLosses(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(w *world, try string)
		want string
	}{
		{"nothing", func(*world, string) {}, ""},
		{"a changed file", func(w *world, try string) { w.write(try+"/a.txt", "x") }, "1 changed file"},
		{"a staged file", func(w *world, try string) { w.write(try+"/c.txt", "x"); w.run(try, "add", "c.txt") }, "1 changed file"},
		{"a deleted file", func(w *world, try string) { os.Remove(try + "/a.txt") }, "1 changed file"},
		{"untracked files", func(w *world, try string) { w.write(try+"/d/x", ""); w.write(try+"/d/y", "") }, "2 untracked files"},
		{"hostile names", func(w *world, try string) {
			if runtime.GOOS != "linux" {
				w.Skip("names must be text here")
			}
			w.write(try+"/\x1b[31m\nred", "")
			w.write(try+"/\xff\xfe not text", "")
			w.write(try+"/-rf", "")
		}, "3 untracked files"},
		{"a renamed file", func(w *world, try string) { w.run(try, "mv", "a.txt", "z.txt") }, "1 changed file"},
		{"ignored files", func(w *world, try string) { w.write(try+"/build/out", "12345"); w.write(try+"/x.log", "1") }, "2 ignored files"},
		{"a commit", func(w *world, try string) { w.write(try+"/n", ""); w.commit(try, "n") }, "1 commit that is in no other branch and no remote"},
		{"a merged commit", func(w *world, try string) {
			w.write(try+"/n", "")
			w.commit(try, "n")
			w.run(w.repo, "merge", "--quiet", "try/g-000001/cc")
		}, ""},
		{"a pushed commit", func(w *world, try string) {
			w.run(w.home, "init", "--quiet", "--bare", "server.git")
			w.run(w.repo, "remote", "add", "origin", w.path("server.git"))
			w.write(try+"/n", "")
			w.commit(try, "n")
			w.run(try, "push", "--quiet", "origin", "HEAD")
		}, ""},
		{"another branch", func(w *world, try string) {
			w.run(try, "switch", "--quiet", "-c", "fix")
			w.write(try+"/n", "")
			w.commit(try, "stays in fix")
		}, ""},
		{"another try on top", func(w *world, try string) {
			w.write(try+"/n", "")
			w.commit(try, "n")
			w.run(w.repo, "branch", "try/g-000002/cc", "try/g-000001/cc")
		}, "1 commit that is in no other branch and no remote"},
		{"main left for another branch", func(w *world, _ string) {
			w.run(w.repo, "switch", "--quiet", "--orphan", "site")
			w.write("proj/index.html", "")
			w.commit(w.repo, "site")
		}, ""},
		{"a detached commit", func(w *world, try string) {
			w.run(try, "switch", "--quiet", "--detach")
			w.write(try+"/n", "")
			w.commit(try, "n")
		}, "1 commit that is in no other branch and no remote"},
		{"a merge under way", func(w *world, try string) {
			w.write(try+"/a.txt", "theirs\n")
			w.commit(try, "theirs")
			w.write("proj/a.txt", "ours\n")
			w.commit(w.repo, "ours")
			if w.fails(try, "merge", "main") {
				return
			}
			w.Fatal("no conflict")
		}, "1 changed file, 1 commit that is in no other branch and no remote, an unfinished merge"},
		{"a hidden change", func(w *world, try string) {
			w.run(try, "update-index", "--assume-unchanged", "a.txt")
			w.write(try+"/a.txt", "x")
		}, "1 file that git was told not to check"},
		{"a repository among the ignored", func(w *world, try string) {
			w.run(w.home, "init", "--quiet", "--template=", try+"/build/dep")
		}, "2 ignored files, 1 git repository among the ignored files"},
		{"a repository in it", func(w *world, try string) {
			w.run(w.home, "init", "--quiet", try+"/dep")
			w.write(try+"/dep/x", "")
		}, "1 untracked file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.T = t
			tt.do(w, w.try("cc").Path)
			e := w.only()
			if got := strings.Join(e.Losses(), ", "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if e.Group != "g-000001" || e.Suffix != "cc" || e.Own != "try/g-000001/cc" {
				t.Errorf("%+v", e.Worktree)
			}
		})
	}
}

// fails runs a git that is to fail.
func (w *world) fails(dir string, args ...string) bool {
	_, err := w.git.run(w.Context(), readLimit, dir, nil, args)
	return err != nil
}

func TestSubmodules(t *testing.T) {
	w := newWorld(t)
	w.run(w.home, "clone", "--quiet", w.repo, "lib")
	w.run(w.repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.path("lib"), "lib")
	w.commit(w.repo, "lib")
	try := w.try("cc").Path
	if got := w.only().Losses(); len(got) != 0 {
		t.Errorf("a submodule that isn't there: %v", got)
	}
	w.run(try, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	w.write(try+"/lib/new", "")
	if got := strings.Join(w.only().Losses(), ", "); got != "submodules, whose changes and commits may exist nowhere else" {
		t.Error(got)
	}
}

func TestStatAndCompare(t *testing.T) {
	w := newWorld(t)
	made := must.Get(create(t.Context(), w.open(w.repo), "g-000001", []string{"cc", "pi"}))(t)
	w.write("proj/later.txt", "on main only\n")
	w.commit(w.repo, "later")
	one, two := made[0].Path, made[1].Path
	w.write(one+"/a.txt", "one\nTWO\nthree\nfour\n")
	w.commit(one, "change")
	w.write(one+"/sub/b.txt", "c\n") // not committed
	w.run(two, "mv", "a.txt", "moved\n.txt")
	w.write(two+"/bin", "\x00\x01")
	w.commit(two, "move")
	c := must.Get(w.open(w.repo).Compare(t.Context(), "g-000001"))(t)
	type cell = *FileStat
	want := []Row{
		{"a.txt", []*FileStat{{Path: "a.txt", Insertions: 2, Deletions: 1}, nil}},
		{"bin", []cell{nil, {Path: "bin", Binary: true}}},
		{"moved\n.txt", []cell{nil, {Path: "moved\n.txt", From: "a.txt"}}},
		{"sub/b.txt", []cell{{Path: "sub/b.txt", Insertions: 1, Deletions: 1}, nil}},
	}
	if d := cmp.Diff(want, c.Rows); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Stat{2, 3, 2}, c.Tries[0].Stat); d != "" || c.Base.Name != "main" {
		t.Error(d, c.Base)
	}
	if none, err := w.open(w.repo).Compare(t.Context(), "g-ffffff"); err != nil || len(none.Tries)+len(none.Rows) > 0 {
		t.Errorf("%+v, %v", none, err)
	}
}

func TestIgnoredIsMeasured(t *testing.T) {
	w := newWorld(t)
	try := w.try("cc").Path
	w.write(try+"/build/a/1", strings.Repeat("x", 1000))
	w.write(try+"/build/2", strings.Repeat("x", 500))
	w.write(try+"/y.log", "12345")
	if d := cmp.Diff(Ignored{Entries: 2, Files: 3, Bytes: 1505}, w.only().Ignored); d != "" {
		t.Error(d)
	}
}

// TestNothingIsWritten: looking changes no file, not even an index whose stored
// times are stale.
func TestNothingIsWritten(t *testing.T) {
	w := newWorld(t)
	try := w.try("cc").Path
	old := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(try+"/a.txt", old, old))
	before := w.tree()
	p := w.plan(nobody)
	if d := cmp.Diff(before, w.tree()); d != "" {
		t.Error(d)
	}
	if p.Stat != (Stat{}) {
		t.Errorf("a file that was only touched counts: %+v", p.Files)
	}
}

// tree returns every file of the home with its size and time.
func (w *world) tree() map[string]string {
	w.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(w.home, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		got[path] = info.ModTime().String()
		return err
	})
	must.Do(w, err)
	return got
}

// TestHooksEnvironment: started from a git hook, git would mean its repository.
func TestHooksEnvironment(t *testing.T) {
	w := newWorld(t)
	w.run(w.home, "init", "--quiet", "-b", "main", "other")
	t.Setenv("GIT_DIR", w.path("other/.git"))
	t.Setenv("GIT_WORK_TREE", w.path("other"))
	t.Setenv("GIT_INDEX_FILE", w.path("other/.git/index"))
	git := must.Get(FindGit())(t)
	if r, err := git.Open(t.Context(), w.repo); err != nil || r.Main != w.repo {
		t.Error(r, err)
	}
}

// A try of a group that the user named is known again when its agent has left
// the branch: a commit on no branch is lost with it, and that is said.
func TestNamedGroupLeftItsBranch(t *testing.T) {
	w := newWorld(t)
	made := must.Get(create(t.Context(), w.open(w.repo), "my-idea", []string{"cc-opus", "pi"}))(t)
	w.run(made[0].Path, "checkout", "--quiet", "--detach")
	w.write(made[0].Path+"/n", "work")
	w.commit(made[0].Path, "n")
	w.run(made[1].Path, "checkout", "--quiet", "-b", "other")
	list, err := w.open(w.repo).List(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, want := range []string{"try/my-idea/cc-opus", "try/my-idea/pi"} {
		if e := list[i]; e.Group != "my-idea" || e.Own != want || e.Lost != 1-i {
			t.Errorf("%+v", e)
		}
	}
}
