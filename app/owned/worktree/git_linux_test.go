package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestForeignRepository: git refuses to read what another user owns.
func TestForeignRepository(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("takes root, to give files away")
	}
	w := newWorld(t)
	err := filepath.WalkDir(w.repo, func(path string, _ os.DirEntry, _ error) error { return os.Lchown(path, 12345, 12345) })
	must.Do(t, err)
	_, err = w.git.Open(t.Context(), filepath.Join(w.repo, "sub"))
	if err == nil || !strings.Contains(err.Error(), "git config --global --add safe.directory "+store.Quote(w.repo)) {
		t.Error(err)
	}
}

// TestOldGit: before 2.36 git worktree list has no -z.
func TestOldGit(t *testing.T) {
	w := newWorld(t)
	try := w.try("cc").Path
	w.run(w.repo, "worktree", "lock", "--reason", "why", try)
	w.write("bin/git", "#!/bin/sh\ncase \"$*\" in *'worktree list --porcelain -z') echo usage >&2; exit 129;; esac\nexec "+w.git.path+" \"$@\"\n")
	must.Do(t, os.Chmod(w.path("bin/git"), 0o755))
	t.Setenv("PATH", w.path("bin")+":"+os.Getenv("PATH"))
	git, err := FindGit()
	if err != nil || git.path != w.path("bin/git") {
		t.Fatal(git, err)
	}
	r := must.Get(git.Open(t.Context(), w.repo))(t)
	list, err := r.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Path != try || list[0].Reason != "why" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestProcesses: a real process in a worktree is found.
func TestProcesses(t *testing.T) {
	w := newWorld(t)
	try := w.try("cc").Path
	cmd := exec.Command("sleep", "60")
	cmd.Dir = filepath.Join(try, "sub")
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	table := onlyOf{proc.OpenAt("/proc", "/etc"), cmd.Process.Pid}
	snap := &app.Snapshot{}
	who := AtWork(func(context.Context) *app.Snapshot { return snap }, table)
	eventually.True(t, "what is due", func() bool { return !w.plan(who).Removable(anyway) })
	if got := w.plan(who).Never; !strings.HasSuffix(got[0], " (sleep) works in it") {
		t.Error(got)
	}
	// A session is named with its id, and agents that could not be asked are named as well.
	snap.Own = []app.Session{{Session: adapters.Session{
		ID: "0123456789", Agent: agentname.Codex,
		State: adapters.State{Status: adapters.Idle},
		Place: adapters.Place{CWD: try},
	}}}
	snap.Adapters = []app.Health{{Name: agentname.Pi, State: app.Failed}}
	got, err := who(t.Context())
	if len(got) != 2 || got[0] != (Occupant{Folder: try, Who: "Codex 01234567 (idle)"}) || err == nil || !strings.Contains(err.Error(), "sessions of pi could not all be read") {
		t.Errorf("%+v, %v", got, err)
	}
}

// onlyOf is the table with the rows of one process.
type onlyOf struct {
	*proc.Table
	pid int
}

func (o onlyOf) List(context.Context) ([]proc.Process, error) {
	p, err := o.Find(o.pid)
	return []proc.Process{p}, err
}
