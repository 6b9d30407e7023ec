package claudecode

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/dirstate"
	"rollcall/proc"
)

// aged makes everything in the home look as if nothing had happened for an hour,
// also since the adapter looked at everything.
func (w *fixture) aged(a *Adapter) {
	w.Helper()
	at := time.Now().Add(-time.Hour)
	w.check(filepath.WalkDir(w.home, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, at, at)
	}))
	<-time.After(50 * time.Millisecond) // a file that was changed just now is read again
	w.hourly(a)
}

// hourly puts the last look at everything back, but less than dirstate.SweepAfter.
func (w *fixture) hourly(a *Adapter) {
	w.Helper()
	if _, err := a.Discover(w.Context(), adapters.Query{}); err != nil {
		w.Fatal(err)
	}
	index := *a.indexes[w.path()]
	index.swept.At = index.swept.At.Add(-2 * dirstate.SweepPause)
	a.indexes[w.path()] = &index
}

// TestColdTranscripts: whoever appends to an old transcript is noticed, by the
// process, by what it leaves in the root, or by the clock.
func TestColdTranscripts(t *testing.T) {
	resume := func(w *fixture) {
		f, err := os.OpenFile(w.path("projects", slug, id(1)+".jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		w.check(err)
		_, err = f.WriteString(promptLine("once more") + doneLine("b"))
		w.check(err)
		w.check(f.Close())
	}
	ago := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name   string
		before func(w *fixture) proc.Process // everything was looked at
		change func(w *fixture, a *Adapter, p proc.Process)
		seen   bool
	}{
		{"no process can have, for less than a minute", nil, func(w *fixture, _ *Adapter, _ proc.Process) { resume(w) }, false},
		{"no process can have, for a minute", nil, func(w *fixture, a *Adapter, _ proc.Process) {
			resume(w)
			index := *a.indexes[w.path()]
			index.swept.At = index.swept.At.Add(-dirstate.SweepAfter)
			a.indexes[w.path()] = &index
		}, true},
		{"a process came and went", nil, func(w *fixture, _ *Adapter, p proc.Process) {
			resume(w)
			w.check(os.Remove(w.entry(w.gone(), id(1), nil)))
		}, true},
		{"an old version's process came and went", nil, func(w *fixture, _ *Adapter, _ proc.Process) {
			resume(w)
			w.write(w.path("todos", "x.json"), "[]")
		}, true},
		{"the registry names a process", func(w *fixture) proc.Process {
			p := w.start(w.home)
			w.entry(p, id(1), nil)
			return p
		}, func(w *fixture, _ *Adapter, _ proc.Process) { resume(w) }, true},
		{"a process that lived a moment ago", func(w *fixture) proc.Process {
			p := w.start(w.home)
			w.entry(p, id(1), nil)
			return p
		}, func(w *fixture, a *Adapter, p proc.Process) {
			w.check(os.Remove(w.path("sessions", filepath.Base(w.entry(p, id(1), nil)))))
			w.check(os.Chtimes(w.path("sessions"), ago, ago))
			w.hidden[p.PID] = true
			resume(w)
		}, true},
		{"a process without an entry", func(w *fixture) proc.Process { return w.start(w.home) },
			func(w *fixture, _ *Adapter, _ proc.Process) { resume(w) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.transcript(1, promptLine("hello"), doneLine("a"))
			w.transcript(2, promptLine("other"), doneLine("a"))
			var p proc.Process
			if c.before != nil {
				p = c.before(w)
			}
			a := New(w.config)
			w.aged(a)
			c.change(w, a, p)
			sessions, _, err := ask(t, a, adapters.Query{Since: time.Now().Add(-2 * time.Hour)})
			maps.DeleteFunc(sessions, func(_ string, s adapters.Session) bool { return s.IsProcess() })
			if seen := sessions[id(1)].LastPrompt == "once more"; err != nil || len(sessions) != 2 || seen != c.seen {
				t.Errorf("%d sessions, seen: %t, want %t (%v)", len(sessions), seen, c.seen, err)
			}
		})
	}
}

// TestFoldersChange: transcripts that are made, replaced, moved and removed are
// noticed though everything was looked at just now.
func TestFoldersChange(t *testing.T) {
	w := newFixture(t)
	first := w.transcript(1, promptLine("hello"), doneLine("a"))
	w.transcript(2, promptLine("other"), doneLine("a"))
	a := New(w.config)
	w.aged(a)
	expect := func(what string, prompts ...string) {
		t.Helper()
		sessions, _, err := ask(t, a, adapters.Query{})
		if err != nil || len(sessions) != len(prompts) {
			t.Errorf("%s: %d sessions, %v", what, len(sessions), err)
		}
		for n, prompt := range prompts {
			if got := sessions[id(n+1)].FirstPrompt; got != prompt {
				t.Errorf("%s: session %d began with %q, want %q", what, n+1, got, prompt)
			}
		}
	}
	expect("as they were", "hello", "other")
	w.check(os.Rename(w.write(w.path("projects", "new.tmp"), promptLine("another")), first))
	expect("replaced", "another", "other")
	w.write(w.path("projects", "-home-dev-second", id(3)+".jsonl"), promptLine("third"))
	expect("made in a new folder", "another", "other", "third")
	w.check(os.Rename(w.path("projects", slug), w.path("projects", "-home-dev-moved")))
	expect("folder moved", "another", "other", "third")
	w.check(os.Remove(w.path("projects", "-home-dev-second", id(3)+".jsonl")))
	expect("removed", "another", "other")
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
