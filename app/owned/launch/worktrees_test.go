package launch

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rollcall/app/owned/worktree"
	"rollcall/internal/must"
	"rollcall/proc"
)

// Only the very folder that a launch made passes, for its repository and branch;
// one without a record is not judged here.
func TestCheckWorktree(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no number here")
	}
	l := In(filepath.Join(t.TempDir(), "state"), proc.Open())
	path := filepath.Join(t.TempDir(), "proj-try-g-1-cc")
	must.Do(t, os.Mkdir(path, 0o755))
	w := worktree.Worktree{Path: path, Own: "try/g-1/cc"}
	check := func(repo string, w worktree.Worktree) error {
		info := must.Get(os.Lstat(path))(t)
		return l.CheckWorktree(repo)(w, info)
	}
	if err := check("/proj", w); err != nil {
		t.Errorf("without a record: %v", err)
	}
	must.Do(t, l.recordWorktrees("/proj", []worktree.Created{{Path: path, Branch: "try/g-1/cc"}}))
	if err := check("/proj", w); err != nil {
		t.Errorf("itself: %v", err)
	}
	if err := check("/other", w); err == nil || !strings.Contains(err.Error(), "/proj") {
		t.Errorf("another repository: %v", err)
	}
	if err := check("/proj", worktree.Worktree{Path: path, Own: "try/g-1/pi"}); err == nil {
		t.Error("another branch passes")
	}
	must.Do(t, l.sweepWorktrees())
	// The other folder exists before the first one goes: their numbers differ.
	other := path + "-other"
	must.Do(t, errors.Join(os.Mkdir(other, 0o755), os.Remove(path), os.Rename(other, path)))
	if err := check("/proj", w); err == nil || !strings.Contains(err.Error(), "another folder") {
		t.Errorf("another folder: %v", err)
	}
	must.Do(t, errors.Join(os.Remove(path), l.sweepWorktrees()))
	if names, err := l.worktrees().Names(); len(names) > 0 || err != nil {
		t.Errorf("left %v, %v", names, err)
	}
}
