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
	s.Outcome, s.Limited, s.Evidence = adapters.Failed, true, `the turn failed: "try again in 2 hours 5 minutes"`
	fine := simple("fine", agentname.Codex, adapters.Stopped, time.Minute)
	silent := s
	silent.ID, silent.Evidence = "silent", "the turn failed"
	open := s
	open.ID, open.Status = "open", adapters.Idle
	d := deps(codex(s, fine, silent, open))
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

func TestResetTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	written := time.Date(2026, 11, 25, 14, 30, 0, 0, time.Local)
	at := func(day, hour, minute int, zone *time.Location) time.Time {
		return time.Date(2026, 11, day, hour, minute, 0, 0, zone)
	}
	inBerlin := at(25, 15, 5, berlin)
	if !inBerlin.After(written) {
		inBerlin = at(26, 15, 5, berlin)
	}
	for text, want := range map[string]time.Time{
		"5-hour limit reached ∙ resets 3pm": at(25, 15, 0, time.Local), "Your limit will reset at 9:05 AM.": at(26, 9, 5, time.Local),
		"try again at 3:51 PM.": at(25, 15, 51, time.Local), "resets 12am": at(26, 0, 0, time.Local), "reset at 3:05pm (Europe/Berlin)": inBerlin,
		"Claude AI usage limit reached|1764082800": time.Unix(1764082800, 0), "Try again in 1 day 2 hours 5 minutes.": written.Add(26*time.Hour + 5*time.Minute),
		"resets 13pm": {}, "resets soon": {}, "try again in a while": {}, "resets 3pm (Nowhere/City)": {}, "": {}, "try again in 99999999999999999999 days": {},
	} {
		if got, ok := resetTime(text, written); ok != !want.IsZero() || ok && !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
}
