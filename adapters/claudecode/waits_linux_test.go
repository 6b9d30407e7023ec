package claudecode

import (
	"path/filepath"
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
