package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// TestChangesOfSubmodules: a submodule is compared by its commit alone, which is said.
func TestChangesOfSubmodules(t *testing.T) {
	w := newWorld(t)
	p := &programs{world: w, try: w.try("cc").Path}
	lib := p.module()
	w.write(filepath.Join(lib, "a.txt"), "other")
	c := w.changes(p.try, time.Time{})
	if !c.Modules || len(c.Files) != 0 || !strings.Contains(strings.Join(c.Unfinished(), ", "), "submodules") {
		t.Errorf("%+v", c)
	}
}

// TestChangesBesidePipes: a named pipe in the working tree is no file to read, and one in the place of a file is named.
func TestChangesBesidePipes(t *testing.T) {
	w := newWorld(t)
	must.Have(t, "mkfifo")
	pipe := func(path string) {
		if out, err := exec.Command("mkfifo", w.path(path)).CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
	}
	w.write("proj/new", "x\n")
	pipe("proj/pipe")
	if c := w.changes(w.repo, time.Time{}); len(c.Files) != 1 || c.Files[0].Path != "new" {
		t.Errorf("%+v", c.Files)
	}
	must.Do(t, os.Remove(w.path("proj/a.txt")))
	pipe("proj/a.txt")
	if _, err := w.git.changesSince(t.Context(), w.repo, time.Time{}, true); err == nil || !strings.Contains(err.Error(), "a.txt: no regular file") {
		t.Error(err)
	}
}
