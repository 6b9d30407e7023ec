package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// few is the table of this machine with the rows of a few processes only.
type few struct {
	*proc.Table
	pids []int
}

func (f *few) List(context.Context) ([]proc.Process, error) {
	var rows []proc.Process
	for _, pid := range f.pids {
		if p, err := f.Find(pid); err == nil {
			rows = append(rows, p)
		}
	}
	return rows, nil
}

// atHome is deps with a home, and a table that shows a few processes.
func atHome(home string, table *few, list ...adapters.Adapter) Deps {
	d := deps(list...)
	d.Open = func() ([]adapters.Adapter, proc.Lister) { return list, table }
	d.Getenv = func(k string) string { return map[string]string{"HOME": home}[k] }
	return d
}

// repository is a home with the repository proj in it, which has one worktree
// for each of these tries.
func repository(t *testing.T, tries ...string) (home string) {
	t.Helper()
	must.Have(t, "git")
	home = must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for k, v := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "d",
		"GIT_AUTHOR_EMAIL": "d@example.org", "GIT_COMMITTER_NAME": "d", "GIT_COMMITTER_EMAIL": "d@example.org"} {
		t.Setenv(k, v)
	}
	git(t, home, "init", "--quiet", "-b", "main", "proj")
	put(t, home+"/proj/.gitignore", "build/\n")
	git(t, home+"/proj", "add", ".")
	git(t, home+"/proj", "commit", "--quiet", "-m", "first")
	for _, try := range tries {
		group, suffix, _ := strings.Cut(try, "/")
		git(t, home+"/proj", "worktree", "add", "--quiet", "-b", "try/"+try, home+"/proj-try-"+group+"-"+suffix)
	}
	return home
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
}

// hostileName is as much of hostile as a file's name can have.
var hostileName = strings.NewReplacer("/", "", "\x00", "").Replace(hostile)

func there(path string) bool { _, err := os.Lstat(path); return err == nil }

var table = func(pids ...int) *few { return &few{proc.OpenAt("/proc", "/etc"), pids} }

// promisedOfWorktrees are the keys of worktree list, written by hand.
var promisedOfWorktrees = []string{
	"at", "repo", "schema", "worktrees", "worktrees[].base", "worktrees[].branch", "worktrees[].changed", "worktrees[].commits", "worktrees[].conflicts",
	"worktrees[].deletions", "worktrees[].error", "worktrees[].files", "worktrees[].gone", "worktrees[].group", "worktrees[].head", "worktrees[].ignored_bytes",
	"worktrees[].insertions", "worktrees[].locked", "worktrees[].loses", "worktrees[].lost", "worktrees[].name", "worktrees[].operation", "worktrees[].path", "worktrees[].untracked",
}

func TestWorktreeList(t *testing.T) {
	home := repository(t, "g-000001/cc", "g-000001/pi", "g-000002/cc", "g-000002/pi")
	d := atHome(home, table())
	cc := home + "/proj-try-g-000001-cc"
	put(t, cc+"/.gitignore", "build/\nmore\n")
	put(t, cc+"/build/x", "12345")
	put(t, cc+"/"+hostileName, "")
	git(t, home+"/proj", "worktree", "lock", "--reason", "\x1b[31mmine", home+"/proj-try-g-000001-pi")
	must.Do(t, os.RemoveAll(home+"/proj-try-g-000002-cc"))
	must.Do(t, os.Remove(home+"/proj-try-g-000002-pi/.git"))
	r := run(t, d, "worktree", "list", "--repo", home+"/proj")
	want := `~/proj-try-g-000001-cc  try/g-000001/cc
  against main: 1 file, 1 insertion, 0 deletions
  only here: 1 changed file, 1 untracked file, 1 ignored file
~/proj-try-g-000001-pi  try/g-000001/pi
  against main: 0 files, 0 insertions, 0 deletions
  locked mine
~/proj-try-g-000002-cc  try/g-000002/cc
  its folder does not exist; git still has a record of it
~/proj-try-g-000002-pi  try/g-000002/pi
  not known: ` + home + "/proj-try-g-000002-pi exists, but is no longer a worktree (its .git is missing): save what you need, then run git worktree prune\n"
	if diff := cmp.Diff(want, r.out); diff != "" || r.code != Incomplete {
		t.Errorf("%d %s %s", r.code, diff, r.err)
	}
	put(t, home+"/proj/.gitignore", "theirs\n")
	git(t, home+"/proj", "commit", "--quiet", "-am", "theirs")
	git(t, cc, "commit", "--quiet", "-am", "ours")
	_ = exec.Command("git", "-C", cc, "merge", "main").Run() // stops at the conflict
	put(t, cc+"/.gitignore", "build/\n")
	r = run(t, d, "worktree", "list", "--json", "--repo", cc)
	if diff := cmp.Diff(promisedOfWorktrees, keys(t, r.out)); diff != "" {
		t.Errorf("keys (-promised +got):\n%s", diff)
	}
	var got struct{ Worktrees []map[string]any }
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || got.Worktrees[0]["operation"] != "merge" || got.Worktrees[0]["conflicts"] != 1.0 {
		t.Errorf("%v: %v", err, got.Worktrees[0])
	}
}

func TestWorktreeUsage(t *testing.T) {
	home := repository(t)
	d := atHome(home, table())
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"worktree list --repo " + home + "/proj", Done, ""},
		{"worktree list --repo " + home, Failure, "not in a git repository"},
		{"worktree list extra", Usage, "takes no argument"},
		{"worktree lits", Usage, "unknown command"},
		{"worktree", Done, ""},
		{"worktree clean", Usage, "--group, or --all"},
		{"worktree clean x --all", Usage, "--group, or --all"},
		{"worktree clean --repo " + home + "/proj nope", Failure, "no worktree of a launch is named nope"},
		{"worktree clean --repo " + home + "/proj main", Failure, "no worktree of a launch is named main"},
		{"worktree clean --repo " + home + "/proj --all", Done, ""},
	} {
		if r := run(t, d, strings.Fields(tt.args)...); r.code != tt.code || !strings.Contains(r.err, tt.says) || tt.says == "" && r.err != "" {
			t.Errorf("rollcall %s: %+v; want %d with %q", tt.args, r, tt.code, tt.says)
		}
	}
	t.Setenv("PATH", home)
	if r := run(t, d, "worktree", "list"); r.code != Failure || !strings.Contains(r.err, "git was not found") {
		t.Errorf("%+v", r)
	}
}

// TestWorktreeClean: of a clean one, one with work, one that a process and one
// that a session works in, exactly the clean one goes, and with force the second.
func TestWorktreeClean(t *testing.T) {
	home := repository(t, "g-000001/cc", "g-000001/codex", "g-000001/oc", "g-000002/pi")
	clean := home + "/proj-try-g-000001-cc"
	work := home + "/proj-try-g-000001-codex"
	process := home + "/proj-try-g-000001-oc"
	session := home + "/proj-try-g-000002-pi"
	put(t, work+"/new", "")
	git(t, work, "add", ".")
	git(t, work, "commit", "--quiet", "-m", "work")
	cmd := exec.Command("sleep", "60")
	cmd.Dir = process
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	s := simple("0123456789", agentname.Codex, adapters.Idle, time.Second)
	s.CWD = session + "/sub/folder"
	d := atHome(home, table(cmd.Process.Pid), codex(s))
	all := []string{"worktree", "clean", "--repo", home + "/proj", "--all"}

	r := run(t, d, append(all, "-n")...)
	want := fmt.Sprintf(`~/proj-try-g-000001-cc
  removes its folder and the branch try/g-000001/cc
~/proj-try-g-000001-codex
  kept: it would lose 1 commit that is in no other branch and no remote
~/proj-try-g-000001-oc
  kept: process %d (sleep) works in it
~/proj-try-g-000002-pi
  kept: Codex 01234567 (idle) works in it
`, cmd.Process.Pid)
	if diff := cmp.Diff(want, r.out); diff != "" || r.code != Done || !there(clean) {
		t.Errorf("%d %s %s", r.code, diff, r.err)
	}
	if r := run(t, d, all...); r.code != Usage || !there(clean) {
		t.Errorf("nobody to ask: %+v", r)
	}
	if r := runOn(t.Context(), t, Streams{In: strings.NewReader("n\n")}, d, all...); r.code != Failure || !strings.Contains(r.err, "nothing was removed") || !there(clean) {
		t.Errorf("no: %+v", r)
	}
	if r := runOn(t.Context(), t, Streams{In: strings.NewReader("y\n")}, d, all...); r.code != Done || there(clean) || !there(work) || !there(process) || !there(session) {
		t.Errorf("yes: %+v", r)
	}
	if r := run(t, d, "worktree", "clean", "--repo", home+"/proj", "-y", "proj-try-g-000001-codex"); r.code != Failure || !strings.Contains(r.err, "1 of 1 worktree kept") || !there(work) {
		t.Errorf("named: %+v", r)
	}
	tip := git(t, work, "rev-parse", "HEAD")
	r = run(t, d, "worktree", "clean", "--repo", home+"/proj", "-y", "--force", "--group", "g-000001")
	if r.code != Done || there(work) || !there(process) || !strings.Contains(r.out, "  LOSES 1 commit") || !strings.Contains(r.out, "git branch try/g-000001/codex "+tip+"\n") {
		t.Errorf("forced: %+v", r)
	}
	git(t, home+"/proj", "branch", "try/g-000001/codex", tip) // as told
}

// TestWorktreeCleanInDoubt: an agent that can't be asked may work there.
func TestWorktreeCleanInDoubt(t *testing.T) {
	home := repository(t, "g-000001/cc", "g-000001/pi")
	broken := codex()
	broken.err = adapters.Unreadable("/x", os.ErrPermission)
	d := atHome(home, table(), broken)
	r := run(t, d, "worktree", "clean", "--repo", home+"/proj", "--all", "-y")
	if !there(home+"/proj-try-g-000001-cc") || !strings.Contains(r.out, "the sessions of codex could not all be read") {
		t.Errorf("%+v", r)
	}
	put(t, home+"/proj-try-g-000001-cc/new", "")
	r = runOn(t.Context(), t, Streams{In: strings.NewReader("y\n")}, d, "worktree", "clean", "--repo", home+"/proj", "--all")
	if there(home+"/proj-try-g-000001-pi") || !there(home+"/proj-try-g-000001-cc") || !strings.Contains(r.out, "  although it may be in use: ") {
		t.Errorf("asked: %+v", r)
	}
	if r := run(t, d, "worktree", "clean", "--repo", home+"/proj", "try/g-000001/cc", "-y", "--force"); r.code != Done || there(home+"/proj-try-g-000001-cc") {
		t.Errorf("forced: %+v", r)
	}
}

// TestWorktreeUnknown: a worktree whose state can't be read is no success without a word.
func TestWorktreeUnknown(t *testing.T) {
	home := repository(t)
	try := home + "/proj-try-g-000001-cc"
	git(t, home+"/proj", "worktree", "add", "--quiet", "-b", "try/g-000001/cc", try)
	must.Do(t, errors.Join(os.Remove(home+"/proj/.git/info/exclude"), syscall.Mkfifo(home+"/proj/.git/info/exclude", 0o600)))
	d := atHome(home, table())
	for _, args := range []string{"worktree list", "worktree list --json", "compare g-000001", "compare g-000001 --json"} {
		r := run(t, d, append(strings.Fields(args), "--repo", home+"/proj")...)
		if r.code != Incomplete || !strings.Contains(r.err, "1 of 1 worktree could not be read") || !strings.Contains(r.out+r.err, "info/exclude is a named pipe") {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// TestWorktreeHostile: what a worktree holds never reaches the terminal raw.
func TestWorktreeHostile(t *testing.T) {
	home := repository(t)
	bad := home + "/proj-try-g-000001-" + hostileName
	git(t, home+"/proj", "worktree", "add", "--quiet", "-b", "try/g-000001/cc", bad)
	git(t, home+"/proj", "worktree", "lock", "--reason", "\x1b]0;pwn\x07\u202e", bad)
	d := atHome(home, table())
	for _, args := range []string{"list", "list --json", "clean --all -y", "clean --group g-000001 --force -y"} {
		r := run(t, d, append([]string{"worktree"}, append(strings.Fields(args), "--repo", home+"/proj")...)...)
		if r.out == "" {
			t.Errorf("%s: %+v", args, r)
		}
		safe(t, args, r)
	}
	safe(t, "a name", run(t, d, "worktree", "clean", hostile, "--repo", home+"/proj"))
}

// safe checks that a terminal can show what was printed.
func safe(t *testing.T, what string, r result) {
	t.Helper()
	for _, c := range r.out + r.err {
		if c != '\n' && (c < 0x20 || c >= 0x7f && c <= 0x9f || c == 0x202e || c == 0x2028) {
			t.Errorf("%s: %U in %q", what, c, r.out+r.err)
			return
		}
	}
}
