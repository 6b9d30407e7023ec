package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/owned/fuse"
	"rollcall/app/store"
	"rollcall/internal/agentname"
)

func TestContinue(t *testing.T) {
	s := simple("s1", agentname.Codex, adapters.Stopped, time.Minute)
	s.Outcome = adapters.Failed
	s.Limited = true
	s.LimitedUntil = time.Now().Add(2 * time.Hour)
	fine := simple("fine", agentname.Codex, adapters.Stopped, time.Minute)
	silent := s
	silent.ID, silent.LimitedUntil = "silent", time.Time{}
	over := s
	over.ID, over.LimitedUntil = "over", time.Now().Add(-time.Hour)
	open := s
	open.ID, open.Status = "open", adapters.Idle
	d := deps(codex(s, fine, silent, over, open))
	f := fuse.In(store.In(filepath.Join(t.TempDir(), "fuses")))
	d.Fuses = func() (*fuse.Fuses, error) { return f, nil }
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"s1"}, Usage, "--at-reset or --at TIME"},
		{[]string{"s1", "--at", "soon"}, Usage, "--at: "},
		{[]string{"fine", "--at", "15:05"}, Failure, "its last turn did not end at a limit"},
		{[]string{"silent", "--at-reset"}, Failure, "use --at TIME"},
		{[]string{"over", "--at-reset"}, Failure, "continue it now"},
		{[]string{"open", "--at-reset"}, Failure, "takes no prompts from here"},
		{[]string{"s1", "--at-reset", "-p", "go on"}, Done, "s1 is continued at "},
		{[]string{"s1", "--at", "15:05"}, Failure, "already set"},
		{[]string{"s1", "--cancel"}, Done, "s1 is not continued"},
		{[]string{"s1", "--cancel"}, Failure, "no continuation is set for this session"},
		{[]string{"silent", "--at", "15:05"}, Done, "silent is continued at "},
	} {
		if r := run(t, d, append([]string{"continue"}, c.args...)...); r.code != c.code || !strings.Contains(r.out+r.err, c.says) {
			t.Errorf("%q: %d %s %s", c.args, r.code, r.out, r.err)
		}
	}
	if r := run(t, d, "fuse", "list"); !strings.Contains(r.out, "continues Codex silent: Continue.") {
		t.Error(r.out)
	}
	if r := run(t, d, "fuse", "list", "--json"); !strings.Contains(r.out, `"continue":{"agent":"codex","session":"silent","prompt":"Continue."}`) {
		t.Error(r.out)
	}
}

// A session that was used since is not resumed for the keeper.
func TestResumeUnusedSince(t *testing.T) {
	s := simple("s1", agentname.Codex, adapters.Stopped, time.Minute)
	s.Outcome, s.Limited = adapters.Failed, true
	for since, says := range map[string]string{time.Now().Add(-time.Hour).Format(time.RFC3339Nano): "it was used since", "noon": "--unused-since must be"} {
		if r := run(t, deps(codex(s)), "resume", "s1", "--unused-since", since, "-p", "x"); r.code == Done || !strings.Contains(r.err, says) {
			t.Errorf("%d %s", r.code, r.err)
		}
	}
}
