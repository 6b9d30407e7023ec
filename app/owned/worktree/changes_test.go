package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/internal/must"
)

// at lets git write the commits and the reflog of what follows with this time.
func (w *world) at(when time.Time) {
	date := strconv.FormatInt(when.Unix(), 10) + " +0000"
	w.Setenv("GIT_COMMITTER_DATE", date)
	w.Setenv("GIT_AUTHOR_DATE", date)
}

// changes returns what changed in a folder.
func (w *world) changes(dir string, since time.Time) *Changes {
	w.Helper()
	c := must.Get(w.git.changesSince(w.Context(), dir, since, true))(w)
	return c
}

// began is when the session of these tests begins.
var began = time.Unix(1_700_000_000, 0)

// worked is a repository with a commit from before began, and work since then.
func worked(t *testing.T) (w *world, before string) {
	w = newWorld(t)
	w.at(began.Add(-time.Hour))
	w.write("proj/a.txt", "one\ntwo\nthree\nfour\n")
	w.write("proj/moved.txt", strings.Repeat("a line that is long enough\n", 20))
	w.write("proj/picture", "\x00old")
	before = w.commit(w.repo, "before")
	w.at(began.Add(time.Minute))
	w.write("proj/a.txt", "one\n2\nthree\nfour\n")
	w.run(w.repo, "mv", "moved.txt", "new.txt")
	w.commit(w.repo, "after \x1b[31mred")
	w.write("proj/a.txt", "one\n2\nthree\nfour\nfive\n")
	w.write("proj/picture", "\x00newer")
	w.write("proj/sub/untracked", "x\ny")
	return w, before
}

func TestChangesSince(t *testing.T) {
	w, before := worked(t)
	c := w.changes(filepath.Join(w.repo, "sub"), began)
	if c.From != before || c.Note != "" || c.Tree != w.repo || c.Branch != "main" {
		t.Errorf("%+v", c)
	}
	if len(c.Commits) != 1 || c.Commits[0].Subject != "after \x1b[31mred" || !c.Commits[0].At.Equal(began.Add(time.Minute)) || c.Commits[0].ID != w.run(w.repo, "rev-parse", "HEAD") {
		t.Errorf("%+v", c.Commits)
	}
	want := []FileStat{{Path: "a.txt", Insertions: 2, Deletions: 1}, {Path: "new.txt", From: "moved.txt"}, {Path: "picture", Binary: true, Size: 6},
		{Path: "sub/untracked", Insertions: 2, Untracked: true, Size: 3}}
	if d := cmp.Diff(want, c.Files); d != "" {
		t.Error(d)
	}
	if got := strings.Join(c.Unfinished(), ", "); got != "2 changed files, 1 untracked file" || c.Stat != (Stat{4, 4, 1}) {
		t.Errorf("%s, %+v", got, c.Stat)
	}
	// The text of the tracked files is one that git can apply to the commit.
	tracked, untracked, _ := strings.Cut(c.Diff, "untracked b/")
	if untracked != "sub/untracked\n--- /dev/null\n+++ b/sub/untracked\n@@ -0,0 +1,2 @@\n+x\n+y\n" {
		t.Errorf("%q", untracked)
	}
	w.write("patch", tracked)
	w.run(w.repo, "stash", "--quiet")
	w.run(w.repo, "checkout", "--quiet", before)
	w.run(w.repo, "apply", w.path("patch"))
	if text, err := os.ReadFile(w.path("proj/a.txt")); string(text) != "one\n2\nthree\nfour\nfive\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestChangesFrom: the commit that is compared with is the one that HEAD had, as far as git can tell.
func TestChangesFrom(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(w *world)
		at   time.Time
		from string // a revision; empty: none
		note string
	}{
		"by the reflog":            {nil, began, "HEAD~", ""},
		"before the first commit":  {nil, time.Unix(1000, 0), "", ""},
		"no time":                  {nil, time.Time{}, "HEAD", "not known"},
		"an older branch was left": {func(w *world) { w.run(w.repo, "switch", "--quiet", "--orphan", "new"); w.commit(w.repo, "n") }, began, "main~", "not in the history"},
		"amended":                  {func(w *world) { w.run(w.repo, "commit", "--quiet", "--amend", "-am", "x") }, began, "main~", ""},
		"no reflog":                {func(w *world) { must.Do(w, os.RemoveAll(filepath.Join(w.repo, ".git/logs"))) }, began, "HEAD~", "by the dates"},
		"an expired reflog": {func(w *world) {
			path := filepath.Join(w.repo, ".git/logs/HEAD")
			text := must.Get(os.ReadFile(path))(w)
			lines := strings.SplitAfter(string(text), "\n")
			w.write(path, strings.Join(lines[2:], ""))
		}, began, "HEAD~", "by the dates"},
		"a younger clone": {func(w *world) {
			w.run(w.home, "clone", "--quiet", w.repo, "clone")
			must.Do(w, errors.Join(os.Rename(w.repo, w.path("first")), os.Rename(w.path("clone"), w.repo)))
		}, began, "HEAD", "younger"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			// newWorld committed at the real time, after began
			must.Do(t, os.RemoveAll(w.repo))
			w.run(w.home, "init", "--quiet", "-b", "main", w.repo)
			w.at(began.Add(-2 * time.Hour))
			w.write("proj/a.txt", "1\n")
			w.commit(w.repo, "first")
			w.at(began.Add(-time.Hour))
			w.write("proj/a.txt", "2\n")
			w.commit(w.repo, "second")
			w.at(began.Add(time.Hour))
			w.write("proj/a.txt", "3\n")
			w.commit(w.repo, "third")
			w.write("proj/b.txt", "3\n")
			if tt.do != nil {
				tt.do(w)
			}
			want := ""
			if tt.from != "" {
				want = w.run(w.repo, "rev-parse", tt.from)
			}
			c := w.changes(w.repo, tt.at)
			if c.From != want || !strings.Contains(c.Note, tt.note) || tt.note == "" && c.Note != "" {
				t.Errorf("%q, %q, want %q", c.From, c.Note, want)
			}
		})
	}
}

func TestChangesOfANewRepository(t *testing.T) {
	w := newWorld(t)
	w.run(w.home, "init", "--quiet", "-b", "main", "empty")
	w.write("empty/x", "1\n")
	w.write("empty/y", "")
	w.run(w.path("empty"), "add", "x")
	c := w.changes(w.path("empty"), began)
	want := []FileStat{{Path: "x", Insertions: 1}, {Path: "y", Untracked: true}}
	if d := cmp.Diff(want, c.Files); d != "" || c.From != "" || c.Commits != nil {
		t.Errorf("%s%+v", d, c)
	}
}

// TestChangesOfLargeFiles: large files are listed, and not shown.
func TestChangesOfLargeFiles(t *testing.T) {
	w := newWorld(t)
	w.write("proj/large", strings.Repeat("a\n", 5<<20))
	w.write("proj/long", "x")
	w.commit(w.repo, "large")
	w.write("proj/large", strings.Repeat("b\n", 5<<20))
	w.write("proj/long", strings.Repeat("b\n", maxFileLines+1))
	w.write("proj/new", strings.Repeat("b\n", maxNewFile))
	w.write("proj/small", "b\n")
	c := w.changes(w.repo, time.Time{})
	want := []FileStat{{Path: "large", Binary: true, Size: 10 << 20}, {Path: "long", Insertions: maxFileLines + 1, Deletions: 1},
		{Path: "new", Untracked: true, Size: 2 * maxNewFile}, {Path: "small", Untracked: true, Insertions: 1, Size: 2}}
	if d := cmp.Diff(want, c.Files); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"long", "new"}, c.LeftOut); d != "" || len(c.Diff) > 1000 || !strings.Contains(c.Diff, "b/small") {
		t.Error(d, len(c.Diff))
	}
}

func TestChangesManyFiles(t *testing.T) {
	w := newWorld(t)
	for i := range maxUntracked + 5 {
		w.write("proj/new/"+strconv.Itoa(i), "x\n")
	}
	c := w.changes(w.repo, time.Time{})
	if len(c.Files) != maxUntracked || c.Unlisted != 5 || c.Untracked != maxUntracked+5 || c.Stat.Files != maxUntracked+5 {
		t.Errorf("%d files, %d unlisted, %+v", len(c.Files), c.Unlisted, c.Stat)
	}
	w.commit(w.repo, "many")
	for i := range maxUntracked {
		w.write("proj/new/"+strconv.Itoa(i), "y\n")
	}
	c = w.changes(w.repo, time.Time{})
	if shown := strings.Count(c.Diff, "diff --git"); len(c.Files) != maxUntracked || shown == 0 || shown+len(c.LeftOut) != maxUntracked {
		t.Errorf("%d files, %d shown, %d left out", len(c.Files), shown, len(c.LeftOut))
	}
}

// TestChangesRefused: what is no working tree gets a reason.
func TestChangesRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		dir  func(w *world) string
		says string
	}{
		"no repository": {func(w *world) string { return w.home }, "not in a git repository"},
		"bare": {func(w *world) string {
			w.run(w.home, "init", "--quiet", "--bare", "bare.git")
			return w.path("bare.git")
		}, "without a working tree"},
		"inside .git": {func(w *world) string { return w.path("proj/.git") }, "without a working tree"},
		"gone":        {func(w *world) string { return w.path("gone") }, "no longer exists"},
		"a file":      {func(w *world) string { return w.path("proj/a.txt") }, "a.txt"},
		"a broken .git": {func(w *world) string {
			w.write("broken/.git", "gitdir: nowhere\n")
			return w.path("broken")
		}, "not in a git repository"},
		"core.worktree": {func(w *world) string {
			w.write("private/secret", "x")
			w.run(w.repo, "config", "core.worktree", w.path("private"))
			return w.repo
		}, "core.worktree"},
		"core.worktree above": {func(w *world) string {
			w.run(w.repo, "config", "core.worktree", w.home)
			return w.repo
		}, "core.worktree"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c, err := w.git.changesSince(t.Context(), tt.dir(w), began, true)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}
