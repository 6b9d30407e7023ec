package cli

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// TestWatchColumns: each column begins in the same cell of every line, whatever the session has, and no line is wider than
// the terminal.
func TestWatchColumns(t *testing.T) {
	long := full()
	long.CWD, long.Title = "/home/dev/"+strings.Repeat("界", 40), "topic "+strings.Repeat("🧑‍🚀", 100)
	short := simple("a", agentname.Pi, adapters.Idle, 0)
	short.Title = "topic"
	failed := simple("b", agentname.OpenCode, adapters.Idle, 0)
	failed.Title, failed.Outcome = "topic", adapters.Interrupted
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.Local)
	var lines []string
	for _, s := range []adapters.Session{long, short, failed} {
		for _, kind := range []app.EventKind{app.Started, app.Changed, app.Ended} {
			lines = append(lines, eventLine(&app.Event{Kind: kind, At: at, Session: app.Session{Session: s}}, 100))
		}
	}
	lines = append(lines, watchLine(100, at, "fuse.cancelled", "", "proj", "topic"))
	begin := 0
	for i, line := range lines {
		before, _, found := strings.Cut(line, "topic")
		if i == 0 {
			begin = present.Width(before)
		}
		if !found || present.Width(before) != begin || present.Width(line) > 100 {
			t.Errorf("the topic begins in cell %d, not %d, of %d: %q", present.Width(before), begin, present.Width(line), line)
		}
	}
	if line := eventLine(&app.Event{Kind: app.Started, At: at, Session: app.Session{Session: long}}, 0); !strings.Contains(line, long.Title) {
		t.Errorf("cut without a terminal: %q", line)
	}
}

// TestWatchPrintsColumns: the spaces between the columns reach the output.
func TestWatchPrintsColumns(t *testing.T) {
	e := newEnv(t.Context(), Streams{Out: discard{}}, deps())
	c := &watchCommand{env: e}
	line := watchLine(80, time.Now(), "started", "Pi", "proj", "topic")
	var out strings.Builder
	c.streams.Out = &out
	must.Do(t, c.print(eventJSON{}, line))
	if got := out.String(); !strings.Contains(got, "started            Pi ") {
		t.Errorf("%q", got)
	}
}
