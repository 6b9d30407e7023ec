package claudecode

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
)

// 2.1.175 calls its questions permission prompts; the transcript has the call.
func TestQuestionAsPermission(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(1), map[string]any{"status": "waiting", "waitingFor": "permission prompt"})
	for want, lines := range map[string][]string{
		"waiting question": {promptLine("hi"), callLine("m1", "t1", "AskUserQuestion")},
		"waiting permission": {promptLine("hi"), answerLine("m1", "tool_use", `{"type":"tool_use","id":"t1","name":"AskUserQuestion","input":{}}`),
			answerLine("m1", "tool_use", `{"type":"tool_use","id":"t2","name":"Bash","input":{}}`)},
	} {
		w.transcript(1, lines...)
		sessions, _, _ := w.discover(adapters.Query{})
		w.expect(sessions, 1, want)
	}
	w.transcript(1, old(promptLine("hi"), time.Hour), old(callLine("m1", "t1", "AskUserQuestion"), time.Hour)) // of a process before
	sessions, _, _ := w.discover(adapters.Query{})
	w.expect(sessions, 1, "waiting permission")
}

// What a left-over entry said after the transcript's last record counts: a prompt
// that was taken back stays there, and one that was just given may not be there yet.
func TestLeftOverEntry(t *testing.T) {
	w := newFixture(t)
	p := w.gone()
	for _, c := range []struct {
		status string
		age    time.Duration
		want   string
		lines  []string
	}{
		{"idle", time.Minute, "stopped interrupted", []string{doneLine("m1"), promptLine("taken back")}},
		{"shell", time.Minute, "stopped interrupted", []string{doneLine("m1"), promptLine("taken back")}},
		{"idle", time.Minute, "stopped completed", []string{promptLine("hi"), doneLine("m1")}},
		{"idle", time.Hour, "stopped died", []string{doneLine("m1"), promptLine("of a later process")}},
		{"busy", time.Minute, "stopped died", []string{promptLine("hi"), doneLine("m1")}},
		{"busy", time.Hour, "stopped completed", []string{promptLine("hi"), doneLine("m1")}},
		{"waiting", time.Minute, "stopped died", []string{promptLine("hi"), callLine("m1", "t1", "Bash")}},
	} {
		for i := range c.lines {
			c.lines[i] = old(c.lines[i], 30*time.Minute)
		}
		w.transcript(1, c.lines...)
		w.entry(p, id(1), map[string]any{"status": c.status, "statusUpdatedAt": time.Now().Add(-c.age).UnixMilli(),
			"startedAt": time.Now().Add(-2 * time.Hour).UnixMilli()})
		sessions, _, _ := w.discover(adapters.Query{})
		w.expect(sessions, 1, c.want)
	}
}

// One session in two terminals lives while one of them does; if the one that worked is killed, its turn died.
func TestOneOfTwoTerminalsKilled(t *testing.T) {
	for status, lines := range map[string][]string{
		"busy":    {promptLine("hi"), callLine("m1", "t1", "Bash")},
		"waiting": {promptLine("hi"), doneLine("m1")}, // its prompt is not written yet
	} {
		w := newFixture(t)
		w.transcript(1, lines...)
		p := w.start(filepath.Join(w.home, "proj"))
		w.entry(p, id(1), map[string]any{"startedAt": time.Now().Add(-time.Hour).UnixMilli(), "statusUpdatedAt": time.Now().Add(-time.Minute).UnixMilli()})
		w.entry(w.gone(), id(1), map[string]any{"status": status, "waitingFor": "permission prompt", "startedAt": time.Now().Add(-time.Hour).UnixMilli(),
			"statusUpdatedAt": time.Now().Add(time.Second).UnixMilli()})
		sessions, _, _ := w.discover(adapters.Query{})
		if s := w.expect(sessions, 1, "idle died"); s.Process != p.Identity || !strings.Contains(s.Evidence, "is left over") {
			t.Errorf("process %v, evidence %q", s.Process, s.Evidence)
		}
		w.transcript(1, append(lines, promptLine("next"), doneLine("m2"))...)
		w.entry(p, id(1), map[string]any{"startedAt": time.Now().Add(-time.Hour).UnixMilli(), "statusUpdatedAt": time.Now().Add(2 * time.Second).UnixMilli()})
		sessions, _, _ = w.discover(adapters.Query{})
		w.expect(sessions, 1, "idle completed")
	}
}

// A session of an SDK that is resumed in a terminal is not headless, before it has a new record as well.
func TestNotHeadlessInATerminal(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.transcript(1, strings.Replace(promptLine("hi"), `"gitBranch"`, `"entrypoint":"sdk-cli","gitBranch"`, 1))
	if sessions, _, _ := w.discover(adapters.Query{}); !sessions[id(1)].Headless {
		t.Error("a session of claude -p is not headless")
	}
	w.entry(p, id(1), map[string]any{"entrypoint": "cli"})
	if sessions, _, _ := w.discover(adapters.Query{}); sessions[id(1)].Headless {
		t.Error("it is headless in a terminal")
	}
}

// The program that an agent runs in is what it recorded. An editor whose adapter uses the SDK for TypeScript is recorded as the SDK is: once its process has
// ended, the row names no host rather than a wrong one.
func TestHost(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	for entrypoint, want := range map[string]string{"cli": "", "sdk-ts": "SDK (TypeScript)", "sdk-py": "SDK (Python)", "sdk-cli": "a script",
		"claude-vscode": "VS Code", "claude-desktop": "Claude Desktop", "claude-code-github-action": "GitHub Actions", "something-new": "something-new"} {
		w.transcript(1, strings.Replace(promptLine("hi"), `"gitBranch"`, `"entrypoint":"`+entrypoint+`","gitBranch"`, 1))
		w.entry(p, id(2), map[string]any{"entrypoint": entrypoint})
		sessions, _, _ := w.discover(adapters.Query{})
		for n := 1; n <= 2; n++ {
			shown := want
			if n == 1 && entrypoint == "sdk-ts" {
				shown = ""
			}
			if got := sessions[id(n)].Host; got != shown {
				t.Errorf("%s, session %d: %q, want %q", entrypoint, n, got, shown)
			}
			if got := sessions[id(n)].Headless; got != (strings.HasPrefix(entrypoint, "sdk-") || want == "GitHub Actions") {
				t.Errorf("%s, session %d: headless %v", entrypoint, n, got)
			}
		}
	}
}
