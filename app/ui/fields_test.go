package ui

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// inWords is every field of a session as "name: value".
func inWords(s app.Session) string {
	snap := snapshotOf(s)
	v := build(snap, listing.Selection{})
	var b strings.Builder
	for _, sec := range describe.Facts(&snap.Sessions()[0], listing.Key{Agent: s.Agent, ID: s.ID}, v, clock) {
		b.WriteString("[" + sec.Title + "]\n")
		for _, f := range sec.Fields {
			b.WriteString(f.Name + ": " + f.Value + "\n")
		}
	}
	return b.String()
}

func TestEveryKnownFieldIsShown(t *testing.T) {
	got := inWords(full().Sessions()[0])
	for _, want := range []string{
		"Status: waiting for your permission",
		"Evidence: registry 18068.json: waiting, permission prompt, 2 m ago",
		"First prompt: The parser test fails", "Last prompt: yes, and run",
		"Folder: /home/dev/projects/rollcall", "Branch: fix/flaky-parser", "Process: pid 18068",
		"Model: claude-sonnet-5-5", "Context: 151,200 of 200,000 tokens (76 %)",
		"Input: 18,432 tokens", "Output: 9,210 tokens", "Cache read: 1,204,551 tokens", "Cache write: 88,231 tokens", "Reasoning: 0 tokens",
		"Cost: US$ 1.84, as reported by the agent",
		"Started: 21 Nov 2026, 13:38:00 (52 m ago)", "Last activity: 21 Nov 2026, 14:28:00 (2 m ago)",
		"Agent: Claude Code 2.1.329", "Session id: e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33",
		"Files: /home/dev/.claude/projects/", ": /home/dev/.claude/sessions/18068.json",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among\n%s", want, got)
		}
	}
}

func TestSuspendedAndOpenInFullWords(t *testing.T) {
	paused := func(s *adapters.Session) { s.Suspended = true }
	open := adapters.ProcessSession(agentname.Codex, proc.Process{Identity: proc.Identity{PID: 4711, Start: 9}}, "/w")
	for want, s := range map[string]app.Session{
		"Status: idle; suspended: its process is paused until it is continued\n":             session("x", adapters.Idle, paused),
		"Status: waiting for you; suspended: its process is paused until it is continued\n":  session("x", adapters.Waiting, paused),
		"Status: idle: open, no session yet\nEvidence: process 4711: open, no session yet\n": {Session: open},
	} {
		if got := inWords(s); !strings.Contains(got, want) {
			t.Errorf("%q is not among\n%s", want, got)
		}
	}
}

func TestUnknownFieldsAreLeftOut(t *testing.T) {
	got := inWords(app.Session{Session: adapters.Session{ID: "x", Agent: agentname.Codex, State: adapters.State{Status: adapters.Unknown, Evidence: "no rollout"}}})
	want := "[Status]\nStatus: unknown\nEvidence: no rollout\n[Identity]\nAgent: Codex\nSession id: x\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestContextWithoutWindow(t *testing.T) {
	got := inWords(session("x", adapters.Idle, func(s *adapters.Session) { s.Context.Used = 1107 }))
	if !strings.Contains(got, "Context: 1,107 tokens (the size of the context window is unknown)") {
		t.Error(got)
	}
}

func TestHostileTextIsCleanedAndBounded(t *testing.T) {
	for _, s := range hostile().Sessions() {
		got := inWords(s)
		if strings.IndexFunc(got, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u202e'
		}) >= 0 {
			t.Errorf("%s: control characters in %q", s.ID, got)
		}
		if len(got) > 10*present.MaxShown {
			t.Errorf("%s: %d bytes are shown", s.ID, len(got))
		}
	}
	f := describe.Long("Last prompt", strings.Repeat("huge ", 1<<20))
	if whole := f.Value + f.Rest; !strings.Contains(whole, "more characters)") || len(whole) > present.MaxShown+100 {
		t.Errorf("%d bytes, ending %q", len(whole), whole[len(whole)-50:])
	}
	if f.Rest == "" || len(f.Value) > present.FirstShown {
		t.Errorf("%d bytes are shown at first", len(f.Value))
	}
}

func TestHookFields(t *testing.T) {
	got := describe.HookFields([]app.Hook{
		{When: "create", Command: "notify", RanAt: time.Now(), Result: "exit 4", Output: "no \x1b[31mmail\n"},
		{When: "complete", Command: "make"}, {When: "complete", Command: "sleep 9", RanAt: time.Now()},
	})
	want := []string{"On create: notify\nexit 4\nno mail", "On complete: make\nnot run yet", "On complete: sleep 9\nrunning"}
	for i, f := range got {
		if text := f.Name + ": " + f.Value; text != want[i] {
			t.Errorf("%q, want %q", text, want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d fields", len(got))
	}
}

func TestSentence(t *testing.T) {
	for text, want := range map[string]string{"": "", "no answer": "No answer", "état inconnu": "État inconnu", "“x” is missing": "“x” is missing"} {
		if got := present.Sentence(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
