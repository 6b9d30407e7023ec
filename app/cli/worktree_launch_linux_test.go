package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/owned/fuse"
	"rollcall/app/store"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// gitIn runs git in a folder.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	args = append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestLaunchInWorktree: one agent works in a worktree, on a branch and from a base that the user names, or on Rollcall's.
func TestLaunchInWorktree(t *testing.T) {
	repo := oneCommit(t)
	gitIn(t, repo, "branch", "develop")
	must.Do(t, os.WriteFile(filepath.Join(repo, "readme"), []byte("newer\n"), 0o600))
	gitIn(t, repo, "commit", "-aqm", "two")
	d := launchDeps(t, &writer{agentname.Codex})
	for name, c := range map[string]struct {
		args   []string
		branch string
		starts string
	}{
		"--worktree": {[]string{"--worktree"}, `try/g-[0-9a-f]{6}/codex`, "newer\n"},
		"named":      {[]string{"--worktree", "--group", "mine"}, `try/mine/codex`, "newer\n"},
		"branch":     {[]string{"--branch", "feature/one", "--base-branch", "develop"}, `feature/one`, "hello\n"},
		"base":       {[]string{"--base-branch", "main~1"}, `try/g-[0-9a-f]{6}/codex`, "hello\n"},
	} {
		r := run(t, d, append([]string{"launch", "codex", "-p", "do it", "--cwd", repo}, c.args...)...)
		found := regexp.MustCompile(`started l-[^,]+, process \d+, in (\S+)\nits branch is (` + c.branch + `); `).FindStringSubmatch(r.out)
		if r.code != Done || found == nil || r.err != "" {
			t.Errorf("%s: %+v", name, r)
			continue
		}
		var text []byte
		eventually.True(t, "the agent's work", func() bool {
			text, _ = os.ReadFile(filepath.Join(found[1], "readme"))
			return strings.HasSuffix(string(text), "by \n")
		})
		if string(text) != c.starts+"do it\nby \n" {
			t.Errorf("%s: the worktree has %q", name, text)
		}
		if on := gitIn(t, found[1], "branch", "--show-current"); on != found[2] {
			t.Errorf("%s: it is on %s", name, on)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(repo, "readme")); string(text) != "newer\n" {
		t.Errorf("the repository itself was changed: %q", text)
	}

	// All of them are listed; the named branch is kept when its worktree is removed.
	var list worktreesJSON
	r := run(t, d, "worktree", "list", "--repo", repo, "--json")
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || len(list.Worktrees) != 4 {
		t.Fatalf("%v: %+v", err, r)
	}
	for _, w := range list.Worktrees {
		if w.Branch != "feature/one" {
			continue
		}
		gitIn(t, w.Path, "checkout", "-q", "--", ".")
		if r := run(t, d, "worktree", "clean", filepath.Base(w.Path), "--repo", repo, "--yes"); r.code != Done {
			t.Errorf("clean: %+v", r)
		}
		if _, err := os.Stat(w.Path); !os.IsNotExist(err) {
			t.Errorf("the worktree is still there: %v", err)
		}
		gitIn(t, repo, "rev-parse", "--verify", "refs/heads/feature/one")
	}
}

func TestLaunchInWorktreeRefused(t *testing.T) {
	repo := oneCommit(t)
	gitIn(t, repo, "branch", "taken")
	d := launchDeps(t, &writer{agentname.Codex})
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"a terminal":      {[]string{"--worktree", "--terminal"}, Usage, "omit --terminal, or --worktree"},
		"no repository":   {[]string{"--worktree", "--cwd", t.TempDir()}, Failure, "git repository"},
		"taken":           {[]string{"--branch", "taken"}, Failure, "the branch taken already exists"},
		"no branch name":  {[]string{"--branch", "a..b"}, Failure, "not a name that git accepts"},
		"an option":       {[]string{"--branch=-x"}, Failure, "must not begin with a hyphen"},
		"try":             {[]string{"--branch", "try/x"}, Failure, "must not begin with a hyphen or with try/"},
		"no base":         {[]string{"--base-branch", "nope"}, Failure, `no branch, tag or commit "nope"`},
		"base, an option": {[]string{"--base-branch=--all"}, Failure, "must not begin with a hyphen"},
		"named group":     {[]string{"--branch", "x", "--group", "mine"}, Failure, "cannot have a group name"},
	} {
		if r := run(t, d, append([]string{"launch", "codex", "-p", "x", "--cwd", repo}, c.args...)...); r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(repo), "*-try-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestWorktreeWarnings: what the worktree lacks, and who works beside it.
func TestWorktreeWarnings(t *testing.T) {
	repo := oneCommit(t)
	must.Do(t, os.WriteFile(filepath.Join(repo, "new"), nil, 0o600))
	must.Do(t, os.WriteFile(filepath.Join(repo, "readme"), []byte("changed"), 0o600))
	s := simple("beside", agentname.ClaudeCode, adapters.Working, time.Second)
	s.CWD, s.Remote, s.Process = repo, "", running(t, s, "sleep", "60").Process
	d := launchDeps(t, &writer{agentname.Codex}, claude(s))
	r := run(t, d, "launch", "codex", "-p", "x", "--cwd", repo, "--worktree", "-n")
	if r.code != Done || !strings.Contains(r.err, "has work that is not committed (1 changed, 1 untracked)") ||
		!strings.Contains(r.err, "is in use: ") {
		t.Errorf("%+v", r)
	}
}

// TestLaunchIntoAFolderWithAFuse names the fuse, and the command that extends it.
func TestLaunchIntoAFolderWithAFuse(t *testing.T) {
	d := launchDeps(t, &writer{agentname.Codex})
	f := fuse.In(store.In(filepath.Join(t.TempDir(), "fuses")))
	d.Fuses = func() (*fuse.Fuses, error) { return f, nil }
	dir := t.TempDir()
	launch := func() result { return run(t, d, "launch", "codex", "-p", "x", "--cwd", dir, "-n") }
	if _, err := f.Set(t.Context(), fuse.Fuse{Path: t.TempDir(), Script: "true"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if r := launch(); r.code != Done || strings.Contains(r.out, "fuse") {
		t.Errorf("another folder has a fuse: %+v", r)
	}
	if _, err := f.Set(t.Context(), fuse.Fuse{Path: filepath.Dir(dir), Note: "test cluster", Script: "true"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if r := launch(); r.code != Done || !strings.Contains(r.out, "the fuse of "+filepath.Dir(dir)+" (test cluster) expires at ") ||
		!strings.Contains(r.out, "rollcall fuse extend "+store.Quote(filepath.Dir(dir))+" --by 1h") {
		t.Errorf("%+v", r)
	}
}
