package ui

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/must"
)

// gitFolder returns a repository with one commit, made an hour ago, and a function that runs git in it.
func gitFolder(t *testing.T) (folder string, git func(args ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no git")
	}
	folder = t.TempDir()
	git = func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=mia", "-c", "user.email=mia@example.org", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=@"+fmt.Sprint(time.Now().Add(-time.Hour).Unix()), "GIT_AUTHOR_DATE=@1700000000")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q", "-b", "main")
	must.Do(t, os.WriteFile(filepath.Join(folder, "a.txt"), []byte("one\ntwo\n"), 0o600))
	git("add", ".")
	git("commit", "-qm", "Begin")
	return folder, git
}

// TestChangesOfSession: the menu shows what changed in the session's folder, as git itself has it: nothing, then files with their lines, and an error in its place. Git is not
// asked before.
func TestChangesOfSession(t *testing.T) {
	folder, git := gitFolder(t)
	s := session("a", adapters.Idle, func(s *adapters.Session) { s.CWD, s.Title, s.StartedAt = folder, "Work", time.Now().Add(-time.Minute) })
	w := open(t, snapshotOf(s, session("b", adapters.Idle, nil)))
	d := w.ui.sessions.detail
	choose := func(label string) {
		t.Helper()
		for _, item := range d.moreItems(d.session) {
			if item.Label == label {
				item.Action()
				return
			}
		}
		t.Fatalf("the menu has no %q", label)
	}
	w.ui.Show("a")
	if d.changes != nil {
		t.Fatal("it is open before it was asked for")
	}
	choose("What changed")
	shows(t, d.content, "Comparing the files…")
	w.until("the answer", func() bool { return strings.Contains(strings.Join(shownTexts(d.content), "\n"), "Nothing changed") })
	w.shoot("changes-none")

	must.Do(t, os.WriteFile(filepath.Join(folder, "a.txt"), []byte("one\n2\nthree\n"), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(folder, "new.txt"), []byte("hello\n"), 0o600))
	tap(t, d.content, "Compare again")
	w.until("the answer", func() bool { return d.changes != nil && len(d.changes.code.All()) > 0 })
	all := strings.Join(d.changes.code.All(), "\n")
	for _, want := range []string{"a.txt", "+2 −1", "new.txt", "untracked", "-two", "+three", "+hello", "not finished"} {
		if !strings.Contains(all, want) {
			t.Errorf("it lacks %q:\n%s", want, all)
		}
	}
	for line := range strings.Lines(git("diff", "--unified=0")) { // what git shows of the tracked file is there, each line of it
		if line = strings.TrimRight(line, "\n"); (line[0] == '+' || line[0] == '-') && !strings.Contains(all, line) {
			t.Errorf("git shows %q", line)
		}
	}
	w.shoot("changes")

	w.ui.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if d.changes != nil || !strings.Contains(strings.Join(shownTexts(d.content), "\n"), "Conversation") {
		t.Error("Esc does not lead back to the session")
	}
	choose("What changed")
	w.ui.Show("b")
	if d.changes != nil {
		t.Error("another session shows the changes of the first")
	}
	w.ui.Show("a")
	must.Do(t, os.RemoveAll(filepath.Join(folder, ".git")))
	choose("What changed")
	w.until("the failure", func() bool {
		return strings.Contains(strings.Join(shownTexts(d.content), "\n"), "What changed is not known")
	})
	w.shoot("changes-failed")
}

// TestChangesOfLongDiff: of a difference of thousands of lines only what is in sight is drawn, Page keys lead to its end, and a request behind it can't be answered.
func TestChangesOfLongDiff(t *testing.T) {
	folder, _ := gitFolder(t)
	var lines strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	must.Do(t, os.WriteFile(filepath.Join(folder, "long.txt"), []byte(lines.String()), 0o600))
	a := newAsker(command("a", "1", "git status", time.Minute))
	snap := waiters(map[string]int{"a": 1})
	snap.Own[0].CWD, snap.Own[0].StartedAt = folder, time.Now().Add(-time.Minute)
	a.cwd = folder
	w := openQueue(t, a, snap)
	w.armed("git status")
	d := w.ui.sessions.detail
	d.showChanges(&app.Session{Session: snap.Own[0].Session})
	w.until("the answer", func() bool { return d.changes.code.IsReady() && d.changes.code.Rows() > 1500 })
	w.rune('a')
	w.rune('d')
	if got := a.got(); len(got) > 0 || d.request.isReady() {
		t.Errorf("answered behind the changes: %v", got)
	}
	w.win.Canvas().Capture()
	for range 200 {
		w.ui.typedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown})
	}
	if !d.changes.code.IsEndSeen() {
		t.Errorf("the Page keys do not lead to the end of %d rows", d.changes.code.Rows())
	}
}
