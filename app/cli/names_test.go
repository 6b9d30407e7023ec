package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"rollcall/adapters"
	_ "rollcall/adapters/all"
	"rollcall/app"
	"rollcall/internal/agentname"
)

// TestNames: agents are called by their program too, statuses by the words that are shown, and a mistyped agent gets a suggestion.
func TestNames(t *testing.T) {
	for name, want := range map[string]adapters.Name{"claude": agentname.ClaudeCode, "claude-code": agentname.ClaudeCode, "Claude Code": agentname.ClaudeCode, "codex": agentname.Codex, "nobody": "nobody"} {
		if got := agentNamed(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"needs you": "waiting", "needs-you": "waiting", "Idle": "idle", "x": "x"} {
		if got := statusNamed(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"cladue-code": "claude-code", "claude-cod": "claude-code", "codx": "codex", "zzzz": "", "o": ""} {
		if got := similarAgent(name); got != want {
			t.Errorf("%q suggests %q, want %q", name, got, want)
		}
	}
}

// TestSessionsNamed: a project or a part of a title names a session; live ones come first, and sub-agents never.
func TestSessionsNamed(t *testing.T) {
	of := func(id string, status adapters.Status, cwd, title, parent string) *app.Session {
		return &app.Session{Session: adapters.Session{
			ID: id, Parent: parent,
			State: adapters.State{Status: status},
			Place: adapters.Place{CWD: cwd},
			Topic: adapters.Topic{Title: title},
		}}
	}
	list := []*app.Session{of("a", adapters.Idle, "/src/infra", "Plan", ""), of("b", adapters.Stopped, "/src/infra", "Old", ""),
		of("c", adapters.Working, "/src/web", "Fix the parser test", ""), of("d", adapters.Working, "/src/web", "parser sub", "c"), of("e", adapters.Idle, "/src/web", "Docs", "")}
	for name, want := range map[string]string{"infra": "a", "PARSER": "c", "web": "ce", "old": "b", "nothing": ""} {
		got := ""
		for _, s := range sessionsNamed(list, name) {
			got += s.ID
		}
		if got != want {
			t.Errorf("%q finds %q, want %q", name, got, want)
		}
	}
}

// TestDurationMistake: a wrong duration is said in words, with an example.
func TestDurationMistake(t *testing.T) {
	f := pflag.NewFlagSet("x", pflag.ContinueOnError)
	f.Duration("for", 0, "")
	if got := flagMistake(f.Parse([]string{"--for", "soon"})); !strings.HasPrefix(got, `--for takes a time such as 30m`) || strings.Contains(got, "time: ") {
		t.Error(got)
	}
	if got := flagMistake(errors.New("unknown flag: --x")); got != "unknown flag: --x" {
		t.Error(got)
	}
}

// TestShortIDsOfOneSession: a session that two processes run has a short id.
func TestShortIDsOfOneSession(t *testing.T) {
	id := "e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33"
	if got := uniquePrefixes([]string{id, id, "f0000000-1"}, 8)[id]; got != "e17d4c0a" {
		t.Error(got)
	}
}
