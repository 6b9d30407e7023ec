package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
)

// A session that /bg moved to the background is one row: that of the session which goes on with it.
func TestContinued(t *testing.T) {
	w := newFixture(t)
	now := time.Now()
	w.config.Now = func() time.Time { return now }
	dir := filepath.Join(w.home, "proj")
	moved := fmt.Sprintf(`{"type":"continued-in","timestamp":%q,"sessionId":%q,"continuedInSessionId":%q}`+"\n",
		now.UTC().Format(time.RFC3339Nano), id(1), id(2))
	closed := `{"type":"cost-state","startTime":1795236204750,"totalCostUSD":0.1}` + "\n"
	lines := ofVersion("2.1.332", promptLine("hi"), closed)
	w.inProject(dir, 1, append(lines, moved, closed)...)
	a := New(w.config)
	sessions, roll, _ := ask(t, a, adapters.Query{})
	if s := w.expect(sessions, 1, "unknown"); s.ContinuedIn != id(2) || !strings.Contains(s.Evidence, "has not begun yet") || len(roll.Skipped) > 0 {
		t.Errorf("before it begins: continued in %q, %s, skipped %v", s.ContinuedIn, s.Evidence, roll.Skipped)
	}
	p := w.start(dir)
	w.entry(p, id(2), map[string]any{"version": "2.1.332", "kind": "bg", "status": "busy", "cwd": dir})
	sessions, _, _ = ask(t, a, adapters.Query{})
	if s := w.expect(sessions, 2, "working"); s.Continues != id(1) || len(sessions) != 1 {
		t.Errorf("continues %q, of %d sessions", s.Continues, len(sessions))
	}
	sessions, _, _ = ask(t, a, adapters.Query{IDs: []string{id(1)}})
	if s := w.expect(sessions, 1, "stopped"); s.ContinuedIn != id(2) {
		t.Errorf("asked for: %+v", s)
	}
	w.inProject(dir, 1, append(lines, moved, closed, promptLine("again"))...) // it was resumed all the same
	sessions, _, _ = ask(t, a, adapters.Query{})
	if s := sessions[id(1)]; s.ContinuedIn != "" || s.Status != adapters.Stopped {
		t.Errorf("resumed: %+v", s)
	}
	now = now.Add(time.Hour)
	w.end(p)
	w.check(os.Remove(w.path("sessions", fmt.Sprintf("%d.json", p.PID))))
	w.inProject(dir, 1, append(lines, moved, closed)...)
	sessions, _, _ = ask(t, a, adapters.Query{})
	if s := w.expect(sessions, 1, "stopped"); !strings.Contains(s.Evidence, "of which nothing is left") {
		t.Errorf("nothing left: %s", s.Evidence)
	}
}
