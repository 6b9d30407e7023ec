package opencode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, "2026-11-21T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

func lineAt(t time.Time, run, text string) string {
	return "timestamp=" + t.UTC().Format("2006-01-02T15:04:05.000Z") + " level=INFO run=" + run + " " + text + "\n"
}

// The lines of 1.18.33 that matter, as it wrote them.
func TestSharedLog(t *testing.T) {
	runs := map[string]*run{}
	for line := range strings.Lines(
		`timestamp=2026-11-21T04:41:23.317Z level=INFO run=9ce4c9b6 message="creating instance" directory="/home/dev/my proj"
timestamp=2026-11-21T04:41:23.400Z level=INFO run=9ce4c9b6 message="event connected"
timestamp=2026-11-21T04:41:47.170Z level=INFO run=9ce4c9b6 message=created id=ses_e0396ec5dffeK9w11PklUcT0vH slug=nimble-orchid title="say run=evil message=loop session.id=ses_aaaaaaaaaaaaaaaaaaaaaaaaaa"
timestamp=2026-11-21T04:41:53.610Z level=INFO run=9ce4c9b6 message=stream providerID=mock session.id=ses_e0396ec5dffeK9w11PklUcT0vH small=false
timestamp=2026-11-21T04:41:54.057Z level=INFO run=9ce4c9b6 message=asking id=per_1fc692e89001Kx4RE2Ode2xJkK permission=bash patterns="[\"sleep 30\"]"
timestamp=2026-11-21T04:41:59.000Z level=INFO run=9ce4c9b6 message=cancel session.id=ses_e0396ec5dffeK9w11PklUcT0vH
timestamp=2026-11-21T04:41:58.000Z level=INFO run=b0784ca1 message=loop session.id=ses_../../etc step=0
a line of something else
timestamp=tomorrow level=INFO run=x message=loop
`) {
		sharedLine(runs, []byte(strings.TrimSuffix(line, "\n")))
	}
	r := runs["9ce4c9b6"]
	if r == nil || len(runs) != 2 || len(runs["b0784ca1"].sessions) != 0 {
		t.Fatalf("runs %v", runs)
	}
	if !r.connected || !r.folders[filepath.FromSlash("/home/dev/my proj")] || !r.first.Equal(at("04:41:23.317")) || !r.last.Equal(at("04:41:59")) {
		t.Errorf("run %+v", r)
	}
	m, ok := r.sessions["ses_e0396ec5dffeK9w11PklUcT0vH"]
	if !ok || len(r.sessions) != 1 || !m.at.Equal(at("04:41:53.610")) || !m.over.Equal(at("04:41:59")) {
		t.Errorf("sessions %v", r.sessions)
	}
	if len(r.asks) != 1 || r.asks[0].permission != "bash" {
		t.Errorf("asks %v", r.asks)
	}
}

// A log is read on from where it was, a line that is being written waits, and one
// that was begun anew is read anew.
func TestLogGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), sharedName)
	now := at("12:00:00")
	var l Adapter
	read := func() map[string]*run {
		t.Helper()
		state, err := l.readLog(t.Context(), path, now.Add(-time.Hour))
		must.Do(t, err)
		return state.runs
	}
	write := func(text string, flags int) {
		t.Helper()
		f, err := os.OpenFile(path, flags|os.O_WRONLY|os.O_CREATE, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
		}
		must.Do(t, err)
		f.Close()
	}
	line := lineAt(now, "aaaa", "message=loop session.id=ses_aaaaaaaaaaaaaa")
	write(line[:30], 0)
	if got := read(); len(got) != 0 {
		t.Errorf("half a line gave %v", got)
	}
	write(line[30:], os.O_APPEND)
	old := read()
	write(lineAt(now.Add(time.Second), "aaaa", "message=loop session.id=ses_bbbbbbbbbbbbbb"), os.O_APPEND)
	if got := read(); len(old["aaaa"].sessions) != 1 || len(got["aaaa"].sessions) != 2 {
		t.Errorf("before %v, after %v", old["aaaa"], got["aaaa"])
	}
	write(strings.Repeat("x", 3<<20)+"\n"+lineAt(now, "bbbb", "message=init"), os.O_APPEND)
	if got := read(); got["bbbb"] == nil || len(got) != 2 {
		t.Errorf("after a line of 3 MB: %v", got)
	}
	must.Do(t, os.Remove(path))
	write(lineAt(now, "cccc", "message=init"), 0)
	if got := read(); got["cccc"] == nil || len(got) != 1 {
		t.Errorf("a new log gave %v", got)
	}
}

// Of a long log only what was written since a time is read.
func TestLongLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), sharedName)
	var text strings.Builder
	begin := at("00:00:00")
	for i := range 60_000 {
		text.WriteString(lineAt(begin.Add(time.Duration(i)*time.Second), fmt.Sprintf("%08x", i/100), "message=stream providerID=mock modelID=mock-1 agent=build"))
	}
	must.Do(t, os.WriteFile(path, []byte(text.String()), 0o600))
	var l Adapter
	from := begin.Add(50_000 * time.Second)
	state, err := l.readLog(t.Context(), path, from)
	must.Do(t, err)
	if n := len(state.runs); n < 100 || n > 120 || state.runs[fmt.Sprintf("%08x", 500)] == nil {
		t.Errorf("%d runs", n)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	var other Adapter
	if _, err := other.readLog(done, path, from); err == nil {
		t.Error("no error though the context was done")
	}
}

func FuzzSharedLine(f *testing.F) {
	seedLogs(f, "opencode.log")
	f.Fuzz(func(t *testing.T, line string) { fuzzLine(t, line) })
}

func fuzzLine(t *testing.T, line string) {
	runs := map[string]*run{}
	for range 2 {
		sharedLine(runs, []byte(line))
	}
	if len(runs) > 1 {
		t.Errorf("one line gave %d runs", len(runs))
	}
	for _, r := range runs {
		for id := range r.sessions {
			if !isSession(id) {
				t.Errorf("%q is no session", id)
			}
		}
		if r.first.IsZero() || r.last.Before(r.first) || len(r.asks) > maxAsks {
			t.Errorf("%+v", r)
		}
	}
}

func seedLogs(f *testing.F, pattern string) {
	paths, _ := filepath.Glob("testdata/recordings/*/home/.local/share/opencode/log/" + pattern)
	if len(paths) == 0 {
		f.Fatal("no recorded logs")
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		must.Do(f, err)
		for line := range strings.Lines(string(text)) {
			f.Add(strings.TrimSuffix(line, "\n"))
		}
	}
}
