package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rollcall/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a home with a real git repository in it.
type world struct {
	*testing.T
	git  *Git
	home string
	repo string // its folder
}

// newWorld makes a repository with one commit on main, and nothing of the
// user's own settings.
func newWorld(t *testing.T) *world {
	t.Helper()
	must.Have(t, "git")
	home := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "XDG_CACHE_HOME": t.TempDir(), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "dev", "GIT_AUTHOR_EMAIL": "dev@example.org", "GIT_COMMITTER_NAME": "dev", "GIT_COMMITTER_EMAIL": "dev@example.org",
	} {
		t.Setenv(name, value)
	}
	git := must.Get(FindGit())(t)
	w := &world{T: t, git: git, home: home, repo: filepath.Join(home, "proj")}
	w.run(home, "init", "--quiet", "-b", "main", w.repo)
	w.write("proj/a.txt", "one\ntwo\nthree\n")
	w.write("proj/.gitignore", "build/\n*.log\n")
	w.write("proj/sub/b.txt", "b\n")
	w.commit(w.repo, "first")
	return w
}

// run runs git and returns its answer.
func (w *world) run(dir string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) write(path, text string) {
	w.Helper()
	path = w.path(path)
	must.Do(w, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(w, os.WriteFile(path, []byte(text), 0o644))
}

func (w *world) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(w.home, path)
}

func (w *world) commit(dir, message string) string {
	w.Helper()
	w.run(dir, "add", "-A")
	w.run(dir, "commit", "--quiet", "-m", message)
	return w.run(dir, "rev-parse", "HEAD")
}

func (w *world) open(dir string) *Repo {
	w.Helper()
	r := must.Get(w.git.Open(w.Context(), dir))(w)
	return r
}

// create makes the worktrees of a group.
func create(ctx context.Context, r *Repo, group string, suffixes []string) ([]Created, error) {
	made, err := r.Place(ctx, group, suffixes, Wanted{})
	if err != nil {
		return nil, err
	}
	return made, r.Create(ctx, made)
}

// try makes one worktree of the group g-000001.
func (w *world) try(suffix string) Created {
	w.Helper()
	made := must.Get(create(w.Context(), w.open(w.repo), "g-000001", []string{suffix}))(w)
	return made[0]
}

// only returns the one try of the repository.
func (w *world) only() Entry {
	w.Helper()
	list, err := w.open(w.repo).List(w.Context())
	if err != nil || len(list) != 1 {
		w.Fatalf("%d worktrees, %v", len(list), err)
	}
	if list[0].Err != nil {
		w.Fatal(list[0].Err)
	}
	return list[0]
}

func nobody(context.Context) ([]Occupant, error) { return nil, nil }

func all(Worktree) bool { return true }

// plan returns the plan of the one try.
func (w *world) plan(who Occupants) *Plan {
	w.Helper()
	plans, err := w.open(w.repo).Plan(w.Context(), who, all)
	if err != nil || len(plans) != 1 {
		w.Fatalf("%d plans, %v", len(plans), err)
	}
	return &plans[0]
}

// branches returns all local branches.
func (w *world) branches() string {
	return strings.ReplaceAll(w.run(w.repo, "for-each-ref", "--format=%(refname:short)", "refs/heads"), "\n", " ")
}
