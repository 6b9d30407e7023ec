package claudecode

import (
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
)

// What a process runs in is known by its environment and command line, before there is a session.
func TestEntrypointAtOnce(t *testing.T) {
	for env, want := range map[string]string{"CLAUDE_CODE_ENTRYPOINT=sdk-ts": "SDK (TypeScript), headless", "CLAUDE_CODE_ENTRYPOINT=sdk-py": "SDK (Python), headless",
		"CLAUDE_CODE_ACTION=1": "GitHub Actions, headless", "CLAUDE_CODE_ENTRYPOINT=claude-vscode": "VS Code", "CLAUDE_CODE_ENTRYPOINT=cli": ""} {
		w := newFixture(t)
		p := w.start(filepath.Join(w.home, "proj"), env)
		_, roll, err := w.discover(adapters.Query{})
		for _, row := range rows(roll) {
			if got := runsIn(&row); row.Process == p.Identity && got != want || err != nil {
				t.Errorf("%s: %q, %v, want %q", env, got, err, want)
			}
		}
	}
	for _, c := range []struct {
		process   claude
		env, want string
	}{
		{claude{printing: true}, "", "sdk-cli"},
		{claude{hosted: true}, "", "sdk-cli"},
		{claude{printing: true}, "CLAUDE_CODE_ENTRYPOINT=cli", "sdk-cli"}, // started by a command of a session
		{claude{hosted: true}, "CLAUDE_CODE_ENTRYPOINT=claude-vscode", "claude-vscode"},
		{claude{printing: true}, "CLAUDE_CODE_ACTION=true", "claude-code-github-action"},
		{claude{}, "", ""},
	} {
		if got := c.process.entrypointOf([]string{c.env}); got != c.want {
			t.Errorf("%+v with %q: %q, want %q", c.process, c.env, got, c.want)
		}
	}
}

// runsIn returns the host, and whether it is headless.
func runsIn(s *adapters.Session) string {
	if s.Headless {
		return s.Host + ", headless"
	}
	return s.Host
}

// Inside of an SDK, 2.1.185 writes registry entries without a status, which name the sessions: also of two in one folder.
func TestEntryWithoutStatus(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	one, two := w.start(dir), w.start(dir)
	w.entry(one, id(1), map[string]any{"version": "2.1.185", "entrypoint": "sdk-ts", "cwd": dir, "status": nil, "statusUpdatedAt": nil})
	w.entry(two, id(2), map[string]any{"version": "2.1.185", "entrypoint": "sdk-ts", "cwd": dir, "status": nil, "statusUpdatedAt": nil})
	w.inProject(dir, 1, ofVersion("2.1.185", promptLine("hi"), doneLine("m"))...)
	w.inProject(dir, 2, ofVersion("2.1.185", promptLine("hi"), callLine("m", "t", "Bash"))...)
	sessions, _, _ := w.discover(adapters.Query{})
	if s := w.expect(sessions, 1, "idle completed"); s.Process != one.Identity || runsIn(&s) != "SDK (TypeScript), headless" {
		t.Errorf("1: process %v in %s", s.Process, runsIn(&s))
	}
	s := w.expect(sessions, 2, "unknown")
	if s.Process != two.Identity || !strings.Contains(s.Evidence, "known from Claude Code inside of another program 2.1.318 on, and not of 2.1.185") {
		t.Errorf("2: process %v, evidence %q", s.Process, s.Evidence)
	}
}
