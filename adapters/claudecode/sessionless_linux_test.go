package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	if !strings.Contains(s.Evidence, "trust this folder?") {
		t.Errorf("evidence %q", s.Evidence)
	}
	transcript := w.inProject(dir, 1, old(promptLine("hi"), 0)) // 2.0.50
	sessions, roll, _ := ask(t, a, adapters.Query{})
	if w.expect(sessions, 1, "unknown"); len(rows(roll)) != 0 {
		t.Errorf("beside its session: %v", rows(roll))
	}
	w.check(os.Remove(transcript))
	w.entry(p, id(2), nil)
	sessions, roll, _ = ask(t, a, adapters.Query{})
	if w.expect(sessions, 2, "idle"); len(rows(roll)) != 0 {
		t.Errorf("beside its entry: %v", rows(roll))
	}
	w.write(w.path("sessions", fmt.Sprintf("%d.json", p.PID)), "{")
	_, roll, _ = ask(t, a, adapters.Query{})
	if len(rows(roll)) != 1 || rows(roll)[0].Status != adapters.Unknown {
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
