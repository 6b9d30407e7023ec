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

// rows returns the answer's processes without a session.
func rows(roll adapters.Roll) []adapters.Session {
	var out []adapters.Session
	for i := range roll.Sessions {
		if roll.Sessions[i].IsProcess() {
			out = append(out, roll.Sessions[i])
		}
	}
	return out
}

// A Claude Code that has no session yet is a row of its own, until it has one.
func TestProcessWithoutSession(t *testing.T) {
	w := newFixture(t)
	a := New(w.config)
	dir := filepath.Join(w.home, "proj")
	p := w.start(dir)
	_, roll, err := ask(t, a, adapters.Query{})
	got := rows(roll)
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	s := got[0]
	if s.Status != adapters.Idle || s.Process != p.Identity || s.CWD != dir || s.ID != fmt.Sprintf("process-%d-%d", p.PID, p.Start) {
		t.Errorf("%+v", s)
	}
	for id, want := range map[string]int{s.ID: 1, id(9): 0} {
		if _, roll, _ := ask(t, a, adapters.Query{IDs: []string{id}}); len(rows(roll)) != want {
			t.Errorf("asked for %s: %v", id, roll.Sessions)
		}
	}
	lines := inFolder(dir, old(promptLine("hi"), 0)) // 2.0.50
	w.transcript(1, lines)
	sessions, roll, _ := ask(t, a, adapters.Query{})
	if w.expect(sessions, 1, "working"); len(rows(roll)) != 0 {
		t.Errorf("beside its session: %v", rows(roll))
	}
	w.check(os.Remove(w.path("projects", slug, id(1)+".jsonl")))
	w.entry(p, id(2), nil)
	sessions, roll, _ = ask(t, a, adapters.Query{})
	if w.expect(sessions, 2, "idle"); len(rows(roll)) != 0 {
		t.Errorf("beside its entry: %v", rows(roll))
	}
	w.write(w.path("sessions", fmt.Sprintf("%d.json", p.PID)), "{")
	if _, roll, _ = ask(t, a, adapters.Query{}); len(rows(roll)) != 0 {
		t.Errorf("with an entry that can't be read: %v", rows(roll))
	}
}

// Sub-commands are no rows, and a run with -p works from its start on.
func TestProcessWithoutSessionByItsArguments(t *testing.T) {
	for line, want := range map[string]adapters.Status{
		"claude -p hi": adapters.Working, "claude --resume": adapters.Idle, "claude daemon run": "", "claude bg-spare x": "", "claude --version": "",
	} {
		t.Run(line, func(t *testing.T) {
			w := newFixture(t)
			w.start(filepath.Join(w.home, "proj"))
			w.config.Table = arguing{w.ownTable(), strings.Fields(line)}
			_, roll, _ := w.discover(adapters.Query{})
			got := rows(roll)
			if want == "" && len(got) != 0 || want != "" && (len(got) != 1 || got[0].Status != want) {
				t.Error(got)
			}
		})
	}
}

// The registry file of a working session was deleted: its transcript and its
// process tell what it does.
func TestEntryDeleted(t *testing.T) {
	turn := func(dir string) string { return inFolder(dir, promptLine("hi")) }
	for _, c := range []struct {
		name, want, evidence string
		args                 []string
		lines                func(dir string) []string
	}{
		{"by its folder", "working", "by its folder", []string{"claude"}, func(dir string) []string { return []string{turn(dir)} }},
		{"by its argument", "working", "by its arguments", []string{"claude", "--session-id", id(1)}, func(dir string) []string { return []string{turn(dir)} }},
		{"resumed", "working", "by its arguments", []string{"claude", "--resume=" + id(1)}, func(dir string) []string {
			return []string{inFolder(dir, ago(promptLine("before"), time.Hour)), closing(time.Now().Add(-2 * time.Hour)), turn(dir)}
		}},
		{"idle", "idle completed", "was removed", []string{"claude"}, func(dir string) []string { return []string{turn(dir), inFolder(dir, doneLine("m"))} }},
		{"older", "working", "by its arguments", []string{"claude", "-r", id(1)}, func(dir string) []string { return ofVersion("2.1.100", turn(dir)) }},
		{"another's by its argument", "stopped died", "", []string{"claude", "--session-id", id(2)}, func(dir string) []string { return []string{turn(dir)} }},
		{"one that ended", "stopped interrupted", "orderly", []string{"claude"}, func(dir string) []string { return []string{turn(dir), closing(time.Now())} }},
		{"older, by its folder", "working", "by its folder", []string{"claude"}, func(dir string) []string { return ofVersion("2.1.100", turn(dir)) }},
		{"older, begun a moment ago", "stopped", "not known how this one ended", []string{"claude"}, func(dir string) []string {
			return ofVersion("2.1.100", inFolder(dir, ago(promptLine("hi"), time.Hour)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			dir := filepath.Join(w.home, "proj")
			p := w.start(dir)
			w.config.Table = arguing{w.ownTable(), c.args}
			written := p.Started.Add(minStartTime) // an earlier write would not be the process's
			w.check(os.Chtimes(w.transcript(1, c.lines(dir)...), time.Time{}, written))
			if c.evidence == "by its folder" {
				w.config.Now = func() time.Time { return time.Now().Add(entryTime) }
			}
			sessions, _, _ := w.discover(adapters.Query{})
			if s := w.expect(sessions, 1, c.want); !strings.Contains(s.Evidence, c.evidence) {
				t.Errorf("evidence %q, want %q in it", s.Evidence, c.evidence)
			}
		})
	}
}

// What the entry said before it was deleted is remembered as long as its process
// lives.
func TestEntryDeletedWhileWatched(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	p := w.start(dir)
	entry := w.entry(p, id(1), map[string]any{"status": "busy", "version": "2.1.100"})
	w.transcript(1, ofVersion("2.1.100", inFolder(dir, promptLine("hi")))...)
	a := New(w.config)
	sessions, _, _ := ask(t, a, adapters.Query{})
	w.expect(sessions, 1, "working")
	w.check(os.Remove(entry))
	for range 3 {
		sessions, _, _ = ask(t, a, adapters.Query{})
		if s := w.expect(sessions, 1, "working"); s.Process != p.Identity {
			t.Errorf("process %v", s.Process)
		}
	}
	w.end(p)
	sessions, _, _ = ask(t, a, adapters.Query{})
	w.expect(sessions, 1, "stopped interrupted")
}

// A session that was resumed, and not written to since, stays that process's when
// its entry is deleted.
func TestEntryOfResumedDeletedWhileWatched(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	p := w.start(dir)
	entry := w.entry(p, id(1), map[string]any{"status": "idle", "version": "2.1.100"})
	path := w.transcript(1, ofVersion("2.1.100", ago(promptLine("hi"), time.Hour), inFolder(dir, ago(doneLine("m"), time.Hour)))...)
	w.check(os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)))
	a := New(w.config)
	sessions, _, _ := ask(t, a, adapters.Query{})
	w.expect(sessions, 1, "idle completed")
	w.check(os.Remove(entry))
	for range 3 {
		sessions, _, _ = ask(t, a, adapters.Query{})
		if s := w.expect(sessions, 1, "idle completed"); s.Process != p.Identity {
			t.Errorf("process %v", s.Process)
		}
	}
	w.end(p)
	sessions, _, _ = ask(t, a, adapters.Query{})
	w.expect(sessions, 1, "stopped completed")
}

// A headless run that ended right before an interactive one began in its folder
// is not that one's session; with two left, the history names the one that
// somebody types into.
func TestRunBeforeInteractive(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	p := w.start(dir)
	w.config.Table = shifted{w.ownTable(), map[int]time.Duration{p.PID: 10 * time.Second}}
	began, err := w.config.Table.Find(p.PID)
	w.check(err)
	line := func(l string, ago time.Duration) string { return inFolder(dir, old(l, ago)) }
	run := w.transcript(1, enqueue("run")+"\n", dequeue+"\n", line(promptLine("run"), 12*time.Second), line(doneLine("m"), 10*time.Second))
	w.check(os.Chtimes(run, time.Time{}, began.Started.Add(-10*time.Millisecond)))
	w.transcript(2, line(promptLine("typed"), 5*time.Second))
	sessions, _, _ := w.discover(adapters.Query{})
	w.expect(sessions, 1, "stopped completed")
	if s := w.expect(sessions, 2, "working"); s.Process.PID != p.PID {
		t.Errorf("process %v: %s", s.Process, s.Evidence)
	}

	w.transcript(1, line(promptLine("run"), 12*time.Second), line(doneLine("m"), 4*time.Second)) // it went on for a while
	sessions, _, _ = w.discover(adapters.Query{})
	w.expect(sessions, 2, "unknown")
	w.write(w.path("history.jsonl"), said(time.Now().Add(-5*time.Second), 2, "typed"))
	sessions, _, _ = w.discover(adapters.Query{})
	w.expect(sessions, 1, "stopped completed")
	w.expect(sessions, 2, "working")
}
