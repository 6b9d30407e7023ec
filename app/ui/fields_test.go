package ui

import (
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode"

	"rollcall/adapters"
	"rollcall/app"
)

// inWords is every field of a session as "name: value".
func inWords(s app.Session) string {
	snap := snapshotOf(s)
	v := build(snap, sieve{})
	var b strings.Builder
	for _, sec := range sections(&snap.Sessions[0], key{agent: s.Agent, id: s.ID}, v, clock) {
		b.WriteString("[" + sec.title + "]\n")
		for _, f := range sec.fields {
			b.WriteString(f.name + ": " + f.value + "\n")
		}
	}
	return b.String()
}

func TestEveryKnownFieldIsShown(t *testing.T) {
	got := inWords(full().Sessions[0])
	for _, want := range []string{
		"Status: waiting for your permission",
		"Evidence: registry 18068.json: waiting, permission prompt, 2 m ago",
		"First prompt: The parser test fails", "Last prompt: yes, and run",
		"Folder: /home/dev/projects/rollcall", "Branch: fix/flaky-parser", "Process: pid 18068",
		"Model: claude-sonnet-5-5", "Context: 151,200 of 200,000 tokens (76 %)",
		"Input: 18,432 tokens", "Output: 9,210 tokens", "Cache read: 1,204,551 tokens", "Cache write: 88,231 tokens", "Reasoning: 0 tokens",
		"Cost: US$ 1.84, as the agent states it",
		"Started: 21 Nov 2026, 13:38:00 (52 m ago)", "Last activity: 21 Nov 2026, 14:28:00 (2 m ago)",
		"Agent: Claude Code 2.1.329", "Session id: e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33",
		"Files: /home/dev/.claude/projects/", ": /home/dev/.claude/sessions/18068.json",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among\n%s", want, got)
		}
	}
}

func TestUnknownFieldsAreLeftOut(t *testing.T) {
	got := inWords(app.Session{Session: adapters.Session{ID: "x", Agent: adapters.Codex, Status: adapters.Unknown, Evidence: "no rollout"}})
	want := "[Status]\nStatus: unknown\nEvidence: no rollout\n[Identity]\nAgent: Codex\nSession id: x\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestContextWithoutWindow(t *testing.T) {
	got := inWords(session("x", adapters.Idle, func(s *adapters.Session) { s.Context.Used = 1107 }))
	if !strings.Contains(got, "Context: 1,107 tokens (the agent doesn't state its window)") {
		t.Error(got)
	}
}

func TestHostileTextIsCleanedAndBounded(t *testing.T) {
	for _, s := range hostile().Sessions {
		got := inWords(s)
		if strings.IndexFunc(got, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u202e'
		}) >= 0 {
			t.Errorf("%s: control characters in %q", s.ID, got)
		}
		if len(got) > 10*maxShown {
			t.Errorf("%s: %d bytes are shown", s.ID, len(got))
		}
	}
	f := long("Last prompt", strings.Repeat("huge ", 1<<20))
	if whole := f.value + f.rest; !strings.Contains(whole, "more characters)") || len(whole) > maxShown+100 {
		t.Errorf("%d bytes, ending %q", len(whole), whole[len(whole)-50:])
	}
	if f.rest == "" || len(f.value) > firstShown {
		t.Errorf("%d bytes are shown at first", len(f.value))
	}
}

func TestQuotingSurvivesAPOSIXShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell here")
	}
	for _, word := range []string{"", "plain", "/a/b-c_d.e", "with space", "it's", "$HOME `id` $(id)", `back\slash "double"`,
		"new\nline", "-dash", "~", "*", "a;b&c|d>e", "#x", "!x", "ünï 漢字", "'", "''"} {
		out, err := exec.Command(sh, "-c", "printf %s "+shellQuote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q became %q (%v)", word, out, err)
		}
	}
}

func TestResumeCommand(t *testing.T) {
	for want, s := range map[string]adapters.Session{
		"cd '/home/dev/my project' && claude --resume abc": {Agent: adapters.ClaudeCode, ID: "abc", CWD: "/home/dev/my project"},
		"codex resume abc":                              {Agent: adapters.Codex, ID: "abc"},
		"claude --resume 'a; b'":                        {Agent: adapters.ClaudeCode, ID: "a; b"},
		"cd ./-x && codex resume abc":                   {Agent: adapters.Codex, ID: "abc", CWD: "-x"},
		"cd /p && opencode -s ses_1":                    {Agent: adapters.OpenCode, ID: "ses_1", CWD: "/p"},
		"cd /p && pi --session 019a":                    {Agent: adapters.Pi, ID: "019a", CWD: "/p"},
		"cd /p && pi --session '/h o/x_0123abcd.jsonl'": {Agent: adapters.PiRust, ID: "0123abcd-1", CWD: "/p", Files: []string{"/h o/x_0123abcd.jsonl"}},
	} {
		if got := resumeCommand(&s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, s := range []adapters.Session{{Agent: adapters.OpenClaw, ID: "abc"}, {Agent: adapters.PiRust, ID: "abc"}, {Agent: adapters.Codex},
		{Agent: adapters.Codex, ID: "abc", Remote: "gateway"}, {Agent: "another", ID: "abc"}} {
		if got := resumeCommand(&s); got != "" {
			t.Errorf("%+v can't be resumed here, got %q", s, got)
		}
	}
}

func TestHookFields(t *testing.T) {
	got := hookFields([]app.Hook{
		{When: "create", Command: "notify", RanAt: time.Now(), Result: "exit 4", Output: "no \x1b[31mmail\n"},
		{When: "complete", Command: "make"}, {When: "complete", Command: "sleep 9", RanAt: time.Now()},
	})
	want := []string{"On create: notify\nexit 4\nno mail", "On complete: make\nhas not run yet", "On complete: sleep 9\nruns"}
	for i, f := range got {
		if text := f.name + ": " + f.value; text != want[i] {
			t.Errorf("%q, want %q", text, want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d fields", len(got))
	}
}
