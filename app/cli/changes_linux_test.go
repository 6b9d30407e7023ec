package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// inRepo is a session of an agent in a repository with one commit, which began after that and whose last turn begins later.
func inRepo(t *testing.T) adapters.Session {
	t.Helper()
	s := simple("work-1", agentname.ClaudeCode, adapters.Idle, 0)
	s.CWD = oneCommit(t)
	s.StartedAt = time.Now()
	s.TurnStartedAt = s.StartedAt.Add(time.Hour)
	return s
}

func TestChanges(t *testing.T) {
	s := inRepo(t)
	file := filepath.Join(s.CWD, "readme")
	must.Do(t, os.WriteFile(file, []byte("hello\n\x1b[31mred\u202e\n"), 0o600))
	commit := `git -c user.name=t -c user.email=t@example.org commit -qam "$(printf 'two\033[2J')"`
	cmd := exec.Command("sh", "-c", commit)
	cmd.Dir = s.CWD
	cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+s.StartedAt.Add(time.Minute).Format(time.RFC3339))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must.Do(t, os.WriteFile(filepath.Join(s.CWD, "n\x1b[31mew\n"), []byte("x\n"), 0o600))
	d := deps(claude(s))
	r := run(t, d, "changes", "work")
	for _, want := range []string{"1 commit · 2 files, +2 −0 · not finished: 1 untracked file\n", "  two\n", "readme  +1 −0\n", "new     +1 −0  untracked\n", "\n+red\n", "since its session began"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q", want)
		}
	}
	if r.code != Done || r.err != "" || strings.ContainsAny(r.out, "\x1b\u202e") {
		t.Errorf("%+v", r)
	}
	if r := run(t, d, "changes", "work", "--stat"); r.code != Done || strings.Contains(r.out, "+red") || !strings.Contains(r.out, "readme") {
		t.Errorf("%+v", r)
	}
	if r := run(t, d, "changes", "work", "--turn", "--stat"); r.code != Done || strings.Contains(r.out, "readme") || !strings.Contains(r.out, "since its turn began") {
		t.Errorf("%+v", r)
	}
	r = run(t, d, "changes", "work", "--json")
	var doc changesJSON
	must.Do(t, json.Unmarshal([]byte(r.out), &doc))
	if len(doc.Commits) != 1 || doc.Commits[0].Subject != "two\x1b[2J" || len(doc.Files) != 2 || doc.Insertions != 2 || doc.Untracked != 1 || !strings.Contains(doc.Diff, "+\x1b[31mred\u202e") {
		t.Errorf("%s", r.out)
	}
	if strings.ContainsAny(r.out, "\x1b\u202e") {
		t.Errorf("%q", r.out)
	}
}

// Where there is nothing to compare, the command says why and fails.
func TestChangesOfOtherFolders(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(s *adapters.Session)
		says   string
	}{
		"no repository":   {func(s *adapters.Session) { s.CWD = t.TempDir() }, "not in a git repository"},
		"gone":            {func(s *adapters.Session) { s.CWD += "/gone" }, "no longer exists"},
		"no folder":       {func(s *adapters.Session) { s.CWD = "" }, "its folder is not known"},
		"another machine": {func(s *adapters.Session) { s.Remote = "gateway\x1b[2J" }, "it runs on gateway: its files are not on this machine"},
		"a container":     {func(s *adapters.Session) { s.Container = "4026532" }, "in a container"},
	} {
		t.Run(name, func(t *testing.T) {
			s := inRepo(t)
			tt.change(&s)
			if r := run(t, deps(claude(s)), "changes", "work-1"); r.code != Failure || r.out != "" || !strings.Contains(r.err, tt.says) || strings.Contains(r.err, "\x1b") {
				t.Errorf("%+v", r)
			}
		})
	}
	if r := run(t, deps(claude()), "changes", "work-1"); r.code != NoSession {
		t.Errorf("%+v", r)
	}
}
