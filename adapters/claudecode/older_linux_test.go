package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/proc"
)

// inFolder makes a line's cwd dir.
func inFolder(dir, line string) string { return strings.ReplaceAll(line, "/home/dev/proj", dir) }

// inProject writes the transcript of session n where Claude Code puts those of a folder.
func (w *fixture) inProject(dir string, n int, lines ...string) string {
	w.Helper()
	name, _ := projectName(dir)
	return w.write(w.path("projects", name, id(n)+".jsonl"), inFolder(dir, strings.Join(lines, "")))
}

// bothAnswers returns the answer of a long-lived adapter and of a fresh one to the question for all sessions and to that for
// each of the sessions alone, which must all be the same.
func (w *fixture) bothAnswers(a *Adapter, sessions ...int) map[string]adapters.Session {
	w.Helper()
	all, _, _ := ask(w, a, adapters.Query{Totals: true})
	fresh, _, _ := w.discover(adapters.Query{Totals: true})
	for _, n := range sessions {
		for _, b := range []*Adapter{a, New(w.config)} {
			one, _, _ := ask(w, b, adapters.Query{IDs: []string{id(n)}, Totals: true})
			for _, s := range []adapters.Session{fresh[id(n)], one[id(n)]} {
				if d := cmp.Diff(all[id(n)], s); d != "" {
					w.Errorf("session %d:\n%s", n, d)
				}
			}
		}
	}
	return all
}

// Of a version that does not record what it waits for, one session of the process's folder is the one that was written since it
// began: idle if its last record closes a turn, and otherwise unknown.
func TestOlderVersion(t *testing.T) {
	for _, version := range []string{"2.0.50", "2.1.100", "2.1.150"} {
		t.Run(version, func(t *testing.T) {
			w := newFixture(t)
			fixed := time.Now().Add(time.Minute)
			w.config.Now = func() time.Time { return fixed }
			dir := filepath.Join(w.home, "proj")
			p := w.start(dir)
			a := New(w.config)
			if version != "2.0.50" {
				w.entry(p, id(1), map[string]any{"version": version, "cwd": dir, "status": "idle"})
			}
			for _, c := range []struct {
				want  string
				lines []string
			}{
				{"unknown", []string{promptLine("hi")}},
				{"idle completed", []string{promptLine("hi"), doneLine("m")}},
				{"idle interrupted", []string{promptLine("hi"), promptLine("[Request interrupted by user]")}},
				{"unknown", []string{promptLine("hi"), callLine("m", "t", "AskUserQuestion")}},
				{"unknown", []string{promptLine("hi"), callLine("m", "t", "Bash")}},
				{"unknown", []string{promptLine("hi"), answerLine("m", "", `{"type":"text","text":"I will"}`)}},
			} {
				w.inProject(dir, 1, ofVersion(version, c.lines...)...)
				sessions := w.bothAnswers(a, 1)
				s := w.expect(sessions, 1, c.want)
				if s.Process != p.Identity || !strings.Contains(s.Evidence, "known from Claude Code 2.1.151 on, and not of "+version) || len(sessions) != 1 {
					t.Errorf("process %v, evidence %q, %d rows", s.Process, s.Evidence, len(sessions))
				}
			}
			w.end(p)
			sessions, _, _ := ask(t, a, adapters.Query{})
			w.expect(sessions, 1, "stopped")
		})
	}
}

// A session that was not written since the process began, two that were, and one that two processes can have written: the
// process is a row, and no session that may be its own is called stopped.
func TestOlderVersionInDoubt(t *testing.T) {
	w := newFixture(t)
	fixed := time.Now().Add(time.Minute)
	w.config.Now = func() time.Time { return fixed }
	dir := filepath.Join(w.home, "proj")
	p := w.start(dir)
	a := New(w.config)
	done := ofVersion("2.0.50", promptLine("hi"), doneLine("m"))
	before := w.inProject(dir, 1, done...)
	w.check(os.Chtimes(before, time.Time{}, p.Started.Add(-time.Hour)))
	sessions := w.bothAnswers(a, 1)
	w.expect(sessions, 1, "stopped completed")
	row := fmt.Sprintf("process-%d-%d", p.PID, p.Start)
	if sessions[row].Status != adapters.Idle || len(sessions) != 2 {
		t.Errorf("row %+v of %d", sessions[row], len(sessions))
	}
	w.inProject(dir, 2, done...)
	w.inProject(dir, 3, done...)
	sessions = w.bothAnswers(a, 1, 2, 3)
	w.expect(sessions, 1, "stopped completed")
	for n := 2; n <= 3; n++ {
		if s := w.expect(sessions, n, "unknown"); !s.Process.IsZero() {
			t.Errorf("process %v", s.Process)
		}
	}
	if sessions[row].Status != adapters.Unknown || len(sessions) != 4 {
		t.Errorf("row %+v of %d", sessions[row], len(sessions))
	}
	w.check(os.Remove(w.path("projects", filepath.Base(filepath.Dir(before)), id(3)+".jsonl")))
	q := w.start(dir)
	w.check(os.Chtimes(w.inProject(dir, 2, done...), time.Time{}, q.Started.Add(time.Second)))
	sessions = w.bothAnswers(a, 1, 2)
	if s := w.expect(sessions, 2, "unknown"); !strings.Contains(s.Evidence, fmt.Sprint(p.PID)) || !strings.Contains(s.Evidence, fmt.Sprint(q.PID)) || len(sessions) != 4 {
		t.Errorf("evidence %q, %d rows", s.Evidence, len(sessions))
	}
}

// After /clear a process of 2.1.100 has another session than its entry names. Nothing of that is guessed.
func TestOlderVersionAfterClear(t *testing.T) {
	w := newFixture(t)
	fixed := time.Now().Add(time.Minute)
	w.config.Now = func() time.Time { return fixed }
	dir := filepath.Join(w.home, "proj")
	w.entry(w.start(dir), id(1), map[string]any{"version": "2.1.100", "cwd": dir, "status": nil})
	w.inProject(dir, 1, ofVersion("2.1.100", promptLine("hi"), doneLine("m"))...)
	w.inProject(dir, 2, ofVersion("2.1.100", promptLine("<command-name>/clear</command-name>"))...)
	sessions := w.bothAnswers(New(w.config), 1, 2)
	w.expect(sessions, 1, "unknown")
	w.expect(sessions, 2, "unknown")
}

// What a process without a registry entry does not own.
func TestNotItsTranscript(t *testing.T) {
	w := newFixture(t)
	dir, other := filepath.Join(w.home, "proj"), filepath.Join(w.home, "elsewhere")
	w.start(dir)
	w.start(other, "CLAUDE_CONFIG_DIR="+filepath.Join(w.home, "nowhere"))
	w.inProject(dir, 1, promptLine("one that recorded its end"), closing(time.Now().Add(-time.Minute)))
	w.transcript(2, old(promptLine("another folder"), 0))
	w.inProject(other, 4, old(promptLine("another configuration"), 0))
	sessions, _, err := w.discover(adapters.Query{})
	if err != nil {
		t.Error(err)
	}
	w.expect(sessions, 1, "stopped interrupted")
	w.expect(sessions, 2, "stopped")
	w.expect(sessions, 4, "stopped")
}

func TestProjectName(t *testing.T) {
	for cwd, want := range map[string]string{
		"/home/dev/proj": "-home-dev-proj", "/a.b/c_d é😀": "-a-b-c-d----", "/" + strings.Repeat("x", 300): "-" + strings.Repeat("x", 199) + "-",
	} {
		if got, isPrefix := projectName(cwd); got != want || isPrefix != (len(cwd) > 200) {
			t.Errorf("%s: %s, %v; want %s", cwd, got, isPrefix, want)
		}
	}
}

// A transcript that nobody is known to write is read again when it changes.
func TestStoppedTranscriptChanges(t *testing.T) {
	w := newFixture(t)
	path := w.transcript(1, promptLine("hello"), doneLine("a"))
	a := New(w.config)
	ago := time.Now().Add(-time.Hour)
	w.check(os.Chtimes(path, ago, ago))
	w.bothAnswers(a, 1)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	w.check(err)
	_, err = f.WriteString(promptLine("once more") + doneLine("b"))
	w.check(err)
	w.check(f.Close())
	if s := w.bothAnswers(a, 1)[id(1)]; s.LastPrompt != "once more" {
		t.Errorf("last prompt %q", s.LastPrompt)
	}
}

// TestLiveOnly: a question for live sessions finds the transcripts that the
// registry names, in whatever folder, and needs no other.
func TestLiveOnly(t *testing.T) {
	w := newFixture(t)
	w.transcript(1, promptLine("stopped"), doneLine("a"))
	w.write(w.path("projects", "-home-dev-elsewhere", id(2)+".jsonl"), promptLine("hello")+callLine("a", "t", "Bash"))
	w.entry(w.start(w.home), id(2), map[string]any{"status": "busy"})
	w.entry(w.start(w.home), id(3), nil) // nothing was typed yet
	a := New(w.config)
	for range 2 {
		sessions, _, err := ask(t, a, adapters.Query{Since: time.Now()})
		if err != nil || len(sessions) != 2 {
			t.Errorf("%d sessions, %v", len(sessions), err)
		}
		if s := w.expect(sessions, 2, "working"); s.FirstPrompt != "hello" || filepath.Base(filepath.Dir(s.Files[0])) != "-home-dev-elsewhere" {
			t.Errorf("prompt %q, files %v", s.FirstPrompt, s.Files)
		}
		w.expect(sessions, 3, "idle")
	}
}

func TestWatchPaths(t *testing.T) {
	w := newFixture(t)
	a := New(w.config)
	want := func(paths ...string) {
		t.Helper()
		if got := a.WatchPaths(); fmt.Sprint(got) != fmt.Sprint(paths) {
			t.Errorf("watches %v, want %v", got, paths)
		}
	}
	want(w.path("sessions"))
	dir := filepath.Join(w.home, "proj")
	p := w.start(dir)
	transcript := w.inProject(dir, 1, old(promptLine("a"), 0))
	_, _, _ = ask(t, a, adapters.Query{})
	want(filepath.Dir(transcript), w.path("sessions"))
	w.entry(p, id(2), nil)
	_, _, _ = ask(t, a, adapters.Query{})
	want(w.path("sessions"))
	w.check(os.RemoveAll(w.path("sessions")))
	a = New(w.config)
	_, _, _ = ask(t, a, adapters.Query{})
	want(w.path(), filepath.Dir(transcript))
	w.check(os.RemoveAll(w.path()))
	want()
}

// arguing is a table whose processes have these arguments.
type arguing struct {
	ownTable
	args []string
}

func (t arguing) Args(proc.Identity) ([]string, error) { return t.args, nil }

// shifted makes processes look older than they are.
type shifted struct {
	ownTable
	older map[int]time.Duration
}

func (t shifted) List(ctx context.Context) ([]proc.Process, error) {
	rows, err := t.ownTable.List(ctx)
	for i := range rows {
		rows[i].Started = rows[i].Started.Add(-t.older[rows[i].PID])
	}
	return rows, err
}

func (t shifted) Find(pid int) (proc.Process, error) {
	p, err := t.ownTable.Find(pid)
	p.Started = p.Started.Add(-t.older[pid])
	return p, err
}

// An agent that is killed while it waits removes its entry and lives on for a second or two: one row.
func TestEntryRemovedBeforeTheEnd(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	p := w.start(dir)
	w.inProject(dir, 1, promptLine("hi"), callLine("m", "t", "AskUserQuestion"), resultLine("t"), promptLine("[Request interrupted by user for tool use]"))
	for _, end := range []string{"", closing(p.Started)} {
		if end != "" {
			w.inProject(dir, 1, promptLine("hi"), promptLine("[Request interrupted by user]"), end)
		}
		sessions, _, _ := w.discover(adapters.Query{})
		if s := w.expect(sessions, 1, "idle interrupted"); s.Process != p.Identity || len(sessions) != 1 {
			t.Errorf("process %v, %d rows", s.Process, len(sessions))
		}
	}
}
