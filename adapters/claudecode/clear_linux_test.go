package claudecode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// clearFixture has processes of 2.1.100, whose registry doesn't follow /clear.
// Times are seconds of a moment an hour after their start, however long that
// takes here; the question is asked at 1000 s.
type clearFixture struct {
	*fixture
	began time.Time
}

func newClearFixture(t *testing.T) *clearFixture {
	w := &clearFixture{fixture: newFixture(t), began: time.Now().Add(time.Hour).Truncate(time.Millisecond)}
	w.config.Now = func() time.Time { return w.at(1000) }
	return w
}

func (w *clearFixture) at(s float64) time.Time {
	return w.began.Add(time.Duration(s * float64(time.Second)))
}

// run starts a process and registers session n for it.
func (w *clearFixture) run(n int) proc.Process {
	w.Helper()
	p := w.start(filepath.Join(w.home, "proj"))
	w.register(p, n, 0)
	return p
}

// register writes the process's entry with session n. Claude Code rewrites it with the startedAt of its own start.
func (w *clearFixture) register(p proc.Process, n int, written float64) {
	w.Helper()
	path := w.entry(p, id(n), map[string]any{"procStart": nil, "status": nil, "pidDomain": nil, "version": nil, "name": nil,
		"nameSource": nil, "statusUpdatedAt": nil, "updatedAt": nil, "startedAt": p.Started.UnixMilli()})
	w.check(os.Chtimes(path, time.Time{}, w.at(written)))
}

// dated makes a line one of 2.1.100.
func (w *clearFixture) dated(s float64, line string) string {
	line = old(line, time.Since(w.at(s)))
	i := strings.Index(line, `"timestamp":"`) + len(`"timestamp":"`)
	line = line[:i] + stamp(w.at(s)) + line[i+len(stamp(w.began)):]
	return strings.ReplaceAll(line, `"version":"2.0.50"`, `"version":"2.1.100"`)
}

// turn is a prompt and its answer.
func (w *clearFixture) turn(s float64) string {
	return w.dated(s, promptLine("hi")) + w.dated(s+0.1, doneLine(fmt.Sprint("m", s)))
}

// cleared is what a transcript begins with after /clear.
func (w *clearFixture) cleared(s float64) string {
	return w.dated(s, meta(promptLine("<local-command-caveat>Caveat: …</local-command-caveat>"))) +
		w.dated(s, promptLine("<command-name>/clear</command-name>\n <command-message>clear</command-message>\n <command-args></command-args>")) +
		w.dated(s+0.01, `{"type":"system","subtype":"local_command","timestamp":"`+stamp(w.began)+`","content":"<local-command-stdout></local-command-stdout>"}`+"\n")
}

// typed appends to history.jsonl.
func (w *clearFixture) typed(s float64, n int, what string) {
	w.Helper()
	f, err := os.OpenFile(w.path("history.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	w.check(err)
	_, err = fmt.Fprintf(f, `{"display":%q,"pastedContents":{},"timestamp":%d,"project":"/home/dev/proj","sessionId":%q}`+"\n",
		what, w.at(s).UnixMilli(), id(n))
	w.check(errors.Join(err, f.Close()))
}

// want asks a new adapter and one that has been asked before, with and without
// restriction, and compares: "idle completed" or, with a process, "idle @".
func (w *clearFixture) want(a *Adapter, states map[int]string, live map[int]proc.Process) map[string]adapters.Session {
	w.Helper()
	var all map[string]adapters.Session
	for _, a := range []*Adapter{New(w.config), a} {
		sessions, _, err := ask(w, a, adapters.Query{})
		if err != nil {
			w.Error(err)
		}
		all = sessions
		for n, state := range states {
			one, _, _ := ask(w, a, adapters.Query{IDs: []string{id(n)}})
			for _, sessions := range []map[string]adapters.Session{sessions, one} {
				if s := w.expect(sessions, n, state); s.Process != live[n].Identity {
					w.Errorf("session %d has process %v, want %v: %s", n, s.Process, live[n].Identity, s.Evidence)
				}
			}
		}
	}
	return all
}

type (
	states = map[int]string
	live   = map[int]proc.Process
)

// A /clear, another one, and a turn.
func TestClear(t *testing.T) {
	w := newClearFixture(t)
	a := New(w.config)
	p := w.run(1)
	w.transcript(1, w.turn(10))
	w.typed(10, 1, "hi")
	w.want(a, states{1: "idle completed"}, live{1: p})
	w.typed(20, 1, "/clear")
	w.transcript(2, w.cleared(20.006))
	sessions := w.want(a, states{1: "stopped completed", 2: "idle"}, live{2: p})
	for n, want := range map[int]string{
		1: fmt.Sprintf("pid %d continued as 00000002: /clear at %s", p.PID, clock(w.at(20.006))),
		2: fmt.Sprintf("registry %d.json names 00000001; /clear at %s continued as 00000002", p.PID, clock(w.at(20.006))),
	} {
		if got := sessions[id(n)].Evidence; !strings.HasPrefix(got, want) {
			t.Errorf("evidence of session %d: %s", n, got)
		}
	}
	w.typed(30, 2, "/clear ")
	w.transcript(3, w.cleared(30.006))
	w.want(a, states{1: "stopped completed", 2: "stopped", 3: "idle"}, live{3: p})
	w.typed(40, 3, "more")
	w.transcript(3, w.cleared(30.006), w.dated(40, promptLine("more")))
	w.want(a, states{1: "stopped completed", 3: "working"}, live{3: p})
	w.typed(50, 3, "/rename x") // rewrites the registry
	w.register(p, 1, 50.02)
	w.transcript(3, w.cleared(30.006), w.turn(40))
	w.want(a, states{1: "stopped completed", 2: "stopped", 3: "idle completed"}, live{3: p})
}

// Two processes in one folder, at their ease and fast; and so fast that it can't
// be told which is whose.
func TestTwoClear(t *testing.T) {
	for _, c := range []struct {
		name                       string
		typed1, new1, typed2, new2 float64
		state                      string
	}{
		{"apart", 20, 20.006, 40, 40.006, "idle"},
		{"shortly after", 20, 20.002, 20.03, 20.04, "idle"},
		{"at the same moment", 20, 20.100, 20.050, 20.120, "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newClearFixture(t)
			p, q := w.run(1), w.run(2)
			w.transcript(1, w.turn(10))
			w.transcript(2, w.turn(11))
			w.typed(c.typed1, 1, "/clear")
			w.typed(c.typed2, 2, "/clear")
			w.transcript(3, w.cleared(c.new1))
			w.transcript(4, w.cleared(c.new2))
			if c.state == "unknown" {
				w.want(New(w.config), states{1: "unknown", 2: "unknown", 3: "unknown", 4: "unknown"}, live{})
				w.typed(60, 4, "/clear")
				w.transcript(5, w.cleared(60.002))
				w.want(New(w.config), states{1: "unknown", 2: "unknown", 3: "unknown", 4: "stopped", 5: "unknown"}, live{})
				return
			}
			w.want(New(w.config), states{1: "stopped completed", 2: "stopped completed", 3: "idle", 4: "idle"}, live{3: p, 4: q})
		})
	}
}

// Only one of two clears; the other one works.
func TestOneOfTwoClears(t *testing.T) {
	w := newClearFixture(t)
	a := New(w.config)
	p, q := w.run(1), w.run(2)
	w.transcript(1, w.turn(10))
	w.transcript(2, w.dated(11, promptLine("hi")))
	w.transcript(3, w.cleared(20.006))
	w.want(a, states{1: "unknown", 2: "working", 3: "unknown"}, live{2: q}) // the history is late
	w.typed(20, 1, "/clear")
	w.want(a, states{1: "stopped completed", 2: "working", 3: "idle"}, live{2: q, 3: p})
}

// The history may be there before the transcript; a /clear that waits in the
// queue, or was taken back, changes nothing.
func TestClearNotDoneYet(t *testing.T) {
	w := newClearFixture(t)
	a := New(w.config)
	p := w.run(1)
	w.transcript(1, w.turn(10))
	w.typed(20, 1, "/clear")
	w.want(a, states{1: "unknown"}, live{})
	working := w.dated(10, promptLine("hi")) + w.dated(11, callLine("m", "t", "Task"))
	w.transcript(1, working)
	w.want(a, states{1: "working"}, live{1: p})
	queue := func(s float64, operation string) string {
		return fmt.Sprintf(`{"type":"queue-operation","operation":%q,"timestamp":%q,"content":"/clear"}`+"\n", operation, stamp(w.at(s)))
	}
	w.transcript(1, working, queue(20, "enqueue"), w.dated(300, resultLine("t")), w.dated(300, doneLine("m2")))
	w.want(a, states{1: "idle completed"}, live{1: p})
	w.transcript(1, working, queue(20, "enqueue"), w.dated(300, resultLine("t")), w.dated(300, doneLine("m2")), queue(300, "dequeue"))
	w.transcript(2, w.cleared(300.005))
	w.want(a, states{1: "stopped completed", 2: "idle"}, live{2: p})
}

// Back in the session from before, by /resume.
func TestClearAndBack(t *testing.T) {
	w := newClearFixture(t)
	a := New(w.config)
	p := w.run(1)
	w.transcript(1, w.turn(10))
	w.typed(20, 1, "/clear")
	w.transcript(2, w.cleared(20.006))
	w.typed(50, 2, "/resume")
	w.want(a, states{1: "stopped completed", 2: "idle"}, live{2: p}) // only its list is open
	w.register(p, 1, 60)
	w.want(a, states{1: "unknown", 2: "unknown"}, live{})
	w.transcript(1, w.turn(10), w.turn(70))
	w.want(a, states{1: "idle completed", 2: "stopped"}, live{1: p})
	w.typed(80, 1, "/clear")
	w.transcript(3, w.cleared(80.006))
	w.want(a, states{1: "stopped completed", 2: "stopped", 3: "idle"}, live{3: p})
	w.register(p, 7, 90) // it resumed a session that has no transcript here
	w.want(a, states{1: "stopped completed", 3: "stopped", 7: "idle"}, live{7: p})
}

// What is no /clear of this process.
func TestNotItsClear(t *testing.T) {
	w := newClearFixture(t)
	a := New(w.config)
	p := w.run(1)
	w.transcript(1, w.turn(10))
	w.typed(-10_000, 1, "/clear") // before the process began
	w.transcript(2, w.cleared(-10_000))
	newer := strings.ReplaceAll(w.cleared(30), "2.1.100", "2.1.329")
	w.transcript(3, newer) // its registry says whose it is
	w.transcript(4, w.turn(10), w.cleared(30))
	w.want(a, states{1: "idle completed", 2: "stopped", 3: "stopped", 4: "stopped completed"}, live{1: p})
	other := strings.ReplaceAll(w.cleared(40), "/home/dev/proj", "/home/dev/else")
	w.write(w.path("projects", "-home-dev-else", id(5)+".jsonl"), other)
	w.want(a, states{1: "idle completed", 5: "stopped"}, live{1: p})
}

// A registry that follows needs no history: it isn't even read.
func TestRegistryFollows(t *testing.T) {
	w := newClearFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(1), nil)
	w.transcript(1, promptLine("hi"), doneLine("m"))
	w.transcript(2, w.cleared(20))
	w.check(os.Mkdir(w.path("history.jsonl"), 0o755))
	w.want(New(w.config), states{1: "idle completed", 2: "stopped"}, live{1: p})
}

// Two processes with the same session: which of them cleared isn't known.
func TestClearOfSharedSession(t *testing.T) {
	w := newClearFixture(t)
	w.run(1)
	w.run(1)
	w.transcript(1, w.turn(10))
	w.typed(20, 1, "/clear")
	w.transcript(2, w.cleared(20.006))
	w.want(New(w.config), states{1: "unknown", 2: "unknown"}, live{})
}

// A fork of the new session, in another process, begins like it.
func TestForkAfterClear(t *testing.T) {
	w := newClearFixture(t)
	p := w.run(1)
	w.transcript(1, w.turn(10))
	w.typed(20, 1, "/clear")
	w.transcript(2, w.cleared(20.006), w.turn(30))
	q := w.run(3)
	w.transcript(3, w.cleared(20.006), w.turn(30), w.turn(40))
	w.want(New(w.config), states{1: "stopped completed", 2: "idle completed", 3: "idle completed"}, live{2: p, 3: q})
}

// An accepted plan whose context was cleared names the transcript it came from.
func TestPlanGoesOn(t *testing.T) {
	w := newClearFixture(t)
	p := w.run(1)
	w.transcript(1, w.dated(10, promptLine("plan")), w.dated(11, callLine("m", "t", "ExitPlanMode")))
	w.want(New(w.config), states{1: "waiting permission"}, live{1: p})
	w.transcript(2, w.dated(20, promptLine("Implement the following plan:\n\n"+strings.Repeat("x", 9000)+
		"\n\nIf you need specific details from before exiting plan mode (like …), read the full transcript at: C:\\x\\"+id(1)+".jsonl")))
	w.want(New(w.config), states{1: "stopped", 2: "working"}, live{2: p})
}

// A session that the user left did not die, although its last prompt, taken back
// before the answer began, is still the last record.
func TestLeftByTheUser(t *testing.T) {
	w := newClearFixture(t)
	old := func(line string) string { return strings.ReplaceAll(line, `"version":"2.1.100"`, `"version":"2.0.50"`) }
	w.transcript(1, old(w.turn(10)), old(w.dated(20, promptLine("taken back"))))
	w.typed(20, 1, "taken back")
	w.want(New(w.config), states{1: "stopped"}, nil)
	w.typed(25, 2, "/exit")
	w.want(New(w.config), states{1: "stopped"}, nil)
	w.typed(26, 1, "/exit")
	w.want(New(w.config), states{1: "stopped interrupted"}, nil)
	w.transcript(1, old(w.turn(10)), old(w.dated(30, promptLine("resumed"))))
	w.want(New(w.config), states{1: "stopped"}, nil)
}

// The history's end is found in a large file, and what is appended is read on
// from there; a file that can't be read leaves what is certain.
func TestHistoryFile(t *testing.T) {
	w := newClearFixture(t)
	a := New(w.config)
	p := w.run(1)
	w.transcript(1, w.turn(10))
	f, err := os.Create(w.path("history.jsonl"))
	w.check(err)
	_, err = f.WriteString(strings.Repeat(`{"display":"/clear","timestamp":1,"project":"/home/dev/proj","sessionId":"`+id(1)+`"}`+"\n", 100))
	w.check(errors.Join(err, f.Truncate(2<<30), f.Close())) // zeros
	w.typed(0, 9, "\n")
	w.typed(20, 1, "/clear")
	w.transcript(2, w.cleared(20.006))
	w.want(a, states{1: "stopped completed", 2: "idle"}, live{2: p})
	w.typed(30, 2, "/clear")
	w.transcript(3, w.cleared(30.006))
	w.want(a, states{2: "stopped", 3: "idle"}, live{3: p})
	w.check(os.WriteFile(w.path("history.jsonl"), nil, 0o600)) // emptied
	w.want(a, states{1: "unknown", 2: "unknown", 3: "unknown"}, live{})

	w.check(os.Remove(w.path("history.jsonl")))
	w.check(os.Mkdir(w.path("history.jsonl"), 0o755))
	_, _, err = ask(t, a, adapters.Query{})
	if !errors.Is(err, adapters.ErrUnreadable) || !strings.Contains(err.Error(), w.path("history.jsonl")) {
		t.Errorf("error %v", err)
	}
}

// Versions without a registry: a session that /clear ended belongs to no process.
func TestClearWithoutRegistry(t *testing.T) {
	w := newClearFixture(t)
	dir := "/home/dev/proj"
	p, q := w.start(filepath.Join(w.home, "proj")), w.start(filepath.Join(w.home, "proj"))
	w.config.Table = elsewhere{shifted{w.ownTable(), map[int]time.Duration{p.PID: time.Hour, q.PID: 10 * time.Minute}}, dir}
	older := func(line string) string { return strings.ReplaceAll(line, "2.1.100", "2.0.77") }
	w.transcript(1, older(w.turn(-3600-1800)))
	w.transcript(2, older(w.turn(5)))
	w.typed(20, 1, "/clear ")
	w.transcript(3, older(w.cleared(20.006)))
	w.want(New(w.config), states{1: "stopped completed", 2: "idle completed", 3: "idle"}, live{})
}

// elsewhere tells another folder for all processes.
type elsewhere struct {
	shifted
	dir string
}

func (t elsewhere) CWD(proc.Identity) (string, error) { return t.dir, nil }
