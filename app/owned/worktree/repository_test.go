package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
)

// TestRepository: a folder belongs to its repository, a worktree to the one that it was made from, and a folder without git to itself.
func TestRepository(t *testing.T) {
	must.Have(t, "git")
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	repo := filepath.Join(root, "shop")
	tree := filepath.Join(root, "shop-try")
	plain := filepath.Join(root, "plain")
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git(root, "init", "-q", "-b", "main", repo)
	git(repo, "commit", "-q", "--allow-empty", "-m", "first")
	git(repo, "worktree", "add", "-q", tree)
	for _, dir := range []string{plain, filepath.Join(repo, "a", "b"), filepath.Join(tree, "c")} {
		must.Do(t, os.MkdirAll(dir, 0o700))
	}
	for dir, want := range map[string]string{repo: repo, filepath.Join(repo, "a", "b"): repo, tree: repo, filepath.Join(tree, "c"): repo, plain: plain,
		filepath.Join(root, "gone"): filepath.Join(root, "gone")} {
		if got := Repository(dir); got != want {
			t.Errorf("%s belongs to %s, want %s", dir, got, want)
		}
		at := want
		if dir == tree || filepath.Dir(dir) == tree {
			at = tree
		}
		if _, got := RepositoryOf(dir); got != at {
			t.Errorf("%s is in the checkout %s, want %s", dir, got, at)
		}
	}
}
