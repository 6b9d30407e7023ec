package pistore

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/internal/agentname"
	"rollcall/proc"
)

// repository makes a folder with a repository and returns both.
func (w *fixture) repository(name string) (dir, git string) {
	w.Helper()
	dir = filepath.Join(w.home, name)
	git = filepath.Join(dir, ".git")
	w.check(os.MkdirAll(git, 0o755))
	return dir, git
}

// Opened by its path from another folder: the repository that Pi watches says
// where it works, before and after a prompt.
func TestOpenedFromAnotherFolder(t *testing.T) {
	w := newFixture(t)
	dir, git := w.repository("work")
	other, _ := w.repository("other")
	old := time.Now().Add(-time.Hour)
	s := newScript(idA, dir, old).begin().sys(second).prompt(second, "old").answer(2*second, "stop")
	path := w.put(s)
	w.put(newScript(idC, other, old).begin().sys(second).prompt(second, "x").answer(2*second, "stop"))
	p, stop := w.start(agentname.Pi, other, "ROLLCALL_TEST_WATCH="+git)
	a := w.store(agentname.Pi)
	w.reads(p, path)
	got := w.expect(a, map[string]string{idA: "unknown", idC: "stopped completed", processID(p): "idle"})
	if cwd := got[processID(p)].CWD; cwd != dir {
		t.Errorf("the process works in %s", cwd)
	}
	w.put(s.prompt(time.Hour+second, "again").answer(time.Hour+2*second, "stop"))
	for _, a := range []*Store{a, w.store(agentname.Pi)} {
		got = w.expect(a, map[string]string{idA: "idle completed", idC: "stopped completed"})
		if got[idA].Process != p.Identity {
			t.Errorf("%+v", got[idA])
		}
	}
	stop()
	w.expect(a, map[string]string{idA: "stopped completed", idC: "stopped completed"})
}

// A process of another folder that has stored nothing may have what was prompted
// since, unless the repository that it watches is its own.
func TestPromptedElsewhere(t *testing.T) {
	tests := []struct {
		name, id    string
		watch, repo bool
		want        string
	}{
		{"nothing watched", idA, false, true, "unknown"},
		{"its own", idA, true, true, "stopped completed"},
		{"its own, no repository there", idA, true, false, "stopped completed"},
		// Versions before 0.65 watch their own whatever they have opened.
		{"its own, old version", "c9837d5d-e0a9-42c0-8baf-7d722a528008", true, true, "unknown"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newFixture(t)
			dir := w.cwd()
			if test.repo {
				dir, _ = w.repository("work")
			}
			own, git := w.repository("own")
			var env []string
			if test.watch {
				env = append(env, "ROLLCALL_TEST_WATCH="+git)
			}
			p, _ := w.start(agentname.Pi, own, env...)
			w.put(newScript(test.id, dir, p.Started.Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop").
				prompt(time.Hour+second, "again").answer(time.Hour+2*second, "stop"))
			w.expect(w.store(agentname.Pi), map[string]string{test.id: test.want, processID(p): "idle"})
		})
	}
}

// The folder of a process is moved away: the session keeps its old name.
func TestFolderMoved(t *testing.T) {
	w := newFixture(t)
	p, stop := w.start(agentname.Pi, w.cwd(), "PWD="+w.cwd())
	w.put(newScript(idA, w.cwd(), p.Started.Add(second)).begin().sys(second).prompt(second, "x"))
	a := w.store(agentname.Pi)
	w.expect(a, map[string]string{idA: "working"})
	w.check(os.Rename(w.cwd(), w.cwd()+"-moved"))
	for _, a := range []*Store{a, w.store(agentname.Pi)} {
		if got := w.expect(a, map[string]string{idA: "working"}); got[idA].Process != p.Identity {
			t.Errorf("%+v", got[idA])
		}
	}
	stop()
	w.expect(a, map[string]string{idA: "stopped died"})
}

// A program that starts Pi in a folder of its choice leaves its own PWD, which does not tell that the folder was renamed: what the process began tells.
func TestFolderMovedOfProgram(t *testing.T) {
	w := newFixture(t)
	p, stop := w.start(agentname.Pi, w.cwd(), "PWD="+w.home)
	w.put(newScript(idA, w.cwd(), p.Started.Add(second)).begin().sys(second).prompt(second, "x"))
	a := w.store(agentname.Pi)
	w.expect(a, map[string]string{idA: "working"})
	w.check(os.Rename(w.cwd(), w.cwd()+"-moved"))
	for _, a := range []*Store{a, w.store(agentname.Pi)} {
		if got := w.expect(a, map[string]string{idA: "working"}); got[idA].Process != p.Identity {
			t.Errorf("%+v", got[idA])
		}
	}
	stop()
	w.expect(a, map[string]string{idA: "stopped died"})
}

// TestFolderGoneBeside: a process without a session is given none of a folder that is gone where another one, or another session, can be meant.
func TestFolderGoneBeside(t *testing.T) {
	tests := map[string]struct {
		pwd   func(w *fixture) string
		begun time.Duration
		other bool // a second session of a folder that is gone
		want  string
	}{
		"it began with it":     {(*fixture).elsewhere, second, false, "working"},
		"it began later":       {(*fixture).elsewhere, time.Minute, false, "unknown"},
		"before it":            {(*fixture).elsewhere, -time.Minute, false, "stopped died"},
		"two sessions":         {(*fixture).elsewhere, second, true, "unknown"},
		"in its first folder":  {func(w *fixture) string { return filepath.Join(w.home, "own") }, second, false, "stopped died"},
		"in it through a link": {func(w *fixture) string { return filepath.Join(w.home, "link") }, second, false, "stopped died"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			own, _ := w.repository("own")
			w.check(os.Symlink(own, filepath.Join(w.home, "link")))
			p, _ := w.start(agentname.Pi, own, "PWD="+test.pwd(w))
			w.now = p.Started.Add(2 * time.Minute)
			want := map[string]string{idA: test.want}
			for id, gone := range map[string]string{idA: "gone", idC: "gone too"} {
				if id == idC && !test.other {
					continue
				}
				dir, _ := w.repository(gone)
				w.put(newScript(id, dir, p.Started.Add(test.begun)).begin().sys(second).prompt(second, "x"))
				w.check(os.RemoveAll(dir))
				want[id] = test.want
			}
			if row := map[string]string{"unknown": "unknown", "stopped died": "idle"}[test.want]; row != "" {
				want[processID(p)] = row
			}
			for _, a := range []*Store{w.store(agentname.Pi), w.store(agentname.Pi)} {
				w.expect(a, want)
			}
		})
	}
}

// elsewhere is the folder of the program that starts a process.
func (w *fixture) elsewhere() string { return w.home }

func TestHeadFolder(t *testing.T) {
	w := newFixture(t)
	dir, git := w.repository("work")
	tree := filepath.Join(w.home, "tree")
	inTree := filepath.Join(git, "worktrees", "tree")
	below := filepath.Join(dir, "a", "b")
	for _, d := range []string{tree, inTree, below} {
		w.check(os.MkdirAll(d, 0o755))
	}
	link := func(target string) {
		w.check(os.WriteFile(filepath.Join(tree, ".git"), []byte("gitdir: "+target+"\n"), 0o600))
	}
	for range 2 {
		for dir, want := range map[string]string{dir: git, below: git, w.cwd(): "", "relative": "", "": ""} {
			if got := headFolder(dir, map[string]proc.FileID{}); got != identify(want) {
				t.Errorf("%s: %v, want %s %v", dir, got, want, identify(want))
			}
		}
	}
	for _, target := range []string{inTree, "../work/.git/worktrees/tree"} {
		link(target)
		if got := headFolder(tree, map[string]proc.FileID{}); got != identify(inTree) || got.Inode == 0 {
			t.Errorf("worktree: %v, want %v", got, identify(inTree))
		}
	}
	link("/rollcall-no-such-folder")
	if got := headFolder(tree, map[string]proc.FileID{}); got != (proc.FileID{}) {
		t.Errorf("dangling: %v", got)
	}
}

// A sub-agent's process, as extensions start it without a session, is its
// session's.
func TestSpawned(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd(), "ROLLCALL_TEST_CHILD=same", "ROLLCALL_TEST_TOOL="+idA)
	w.put(newScript(idA, w.cwd(), p.Started.Add(second)).begin().sys(second).prompt(2*second, "x"))
	rows, err := w.table.List(t.Context())
	w.check(err)
	child := ""
	for _, row := range rows {
		if row.PPID == p.PID && row.Comm == "pi" {
			child = processID(row)
		}
	}
	w.now = p.Started.Add(3 * second) // after what a fork of p is taken for
	got := w.expect(w.store(agentname.Pi), map[string]string{idA: "working", child: "idle"})
	if got[child].Parent != idA || got[idA].Parent != "" {
		t.Errorf("parents %q and %q", got[child].Parent, got[idA].Parent)
	}
}
