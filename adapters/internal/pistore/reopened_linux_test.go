package pistore

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// TestReopened: a process that has stored nothing may have opened each session of its folder whose file can have been read
// since it began, and no other. A session that it may have is unknown, for whoever asks, until it is prompted.
func TestReopened(t *testing.T) {
	w := newFixture(t)
	old := func(id string) *script {
		return newScript(id, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop")
	}
	s := old(idA)
	path, unread := w.put(s), w.put(old(idC))
	p, stop := w.start(agentname.Pi, w.cwd())
	for name, c := range map[string]struct {
		read time.Time
		want string
	}{
		"read when the process began":               {p.Started.Add(second), "unknown"},
		"read long after it began":                  {p.Started.Add(time.Hour), "unknown"},
		"read before, so that a read shows nowhere": {p.Started.Add(-time.Hour), "unknown"},
		"read more than a day before":               {p.Started.Add(-25 * time.Hour), "stopped completed"},
	} {
		w.check(os.Chtimes(path, c.read, p.Started.Add(-48*time.Hour)))
		written := p.Started.Add(-time.Hour)
		w.check(os.Chtimes(unread, written, written))
		a := w.store(agentname.Pi)
		for _, a := range []*Store{a, a, w.store(agentname.Pi)} {
			got := w.expect(a, map[string]string{idA: c.want, idC: "stopped completed", processID(p): "idle"})
			if x := got[idA]; !x.Process.IsZero() || c.want == "unknown" && !strings.Contains(x.Evidence, "may have opened this session") {
				t.Errorf("%s: %+v", name, x)
			}
		}
	}
	a := w.store(agentname.Pi)
	s.prompt(time.Hour+time.Minute, "again")
	w.put(s)
	w.check(os.Chtimes(unread, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)))
	w.order(p, order{Dial: w.listen()})
	w.expect(a, map[string]string{idA: "working", idC: "stopped completed"})
	stop()
	w.expect(a, map[string]string{idA: "stopped died", idC: "stopped completed"})
}

// listen returns the address of a model server that says nothing.
func (w *fixture) listen() string {
	w.Helper()
	listener, err := (&net.ListenConfig{}).Listen(w.Context(), "unix", filepath.Join(w.home, "model"))
	w.check(err)
	w.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

// TestOpenInTwoTerminals: a session is open in two terminals, and the one that works is killed. The other one, which is quiet,
// does not work for it.
func TestOpenInTwoTerminals(t *testing.T) {
	w := newFixture(t)
	s := newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop")
	w.put(s)
	p, stop := w.start(agentname.Pi, w.cwd())
	q, _ := w.start(agentname.Pi, w.cwd())
	w.put(s.prompt(time.Hour+time.Minute, "again"))
	w.expect(w.store(agentname.Pi), map[string]string{idA: "working", processID(p): "idle", processID(q): "idle"})
	stop()
	for range 2 {
		got := w.expect(w.store(agentname.Pi), map[string]string{idA: "unknown"})
		if !strings.Contains(got[idA].Evidence, "by this process or by one that has ended") {
			t.Error(got[idA].Evidence)
		}
	}
}

// TestOneAnswer: two processes of a folder, and /new in one of them. A Rollcall that watched and one that asks now say the same,
// of versions that number their ids and of older ones.
func TestOneAnswer(t *testing.T) {
	for name, numbered := range map[string]bool{"0.87 and later": true, "before 0.87": false} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			watching := w.store(agentname.Pi)
			p, _ := w.start(agentname.Pi, w.cwd())
			time.Sleep(time.Until(p.Started.Add(2 * second))) // so that their starts can be distinguished
			q, _ := w.start(agentname.Pi, w.cwd())
			same := func(want map[string]string) {
				t.Helper()
				w.expect(watching, want)
				w.expect(w.store(agentname.Pi), want)
			}
			same(map[string]string{processID(p): "idle", processID(q): "idle"})
			if !numbered {
				w.put(newScript(oldA, w.cwd(), p.Started.Add(second)).begin().prompt(5*second, "x").answer(6*second, "stop"))
				w.put(newScript(oldB, w.cwd(), q.Started.Add(second)).begin().prompt(5*second, "y").answer(6*second, "stop"))
				same(map[string]string{oldA: "unknown", oldB: "unknown", processID(p): "idle", processID(q): "idle"})
				w.put(newScript(oldC, w.cwd(), p.Started.Add(20*second)).begin().prompt(second, "new").answer(2*second, "stop"))
				same(map[string]string{oldA: "unknown", oldB: "unknown", oldC: "unknown", processID(p): "idle", processID(q): "idle"})
				return
			}
			const ofP, next, ofQ = "01a1fc98-aaaa-7000-8000-000000000000", "01a1fc98-bbbb-7000-8000-000200000000", "01a1fc98-cccc-7555-8000-000000000000"
			w.put(started(ofP, w.cwd(), p.Started.Add(900*time.Millisecond), 20*time.Millisecond).prompt(5*second, "x").answer(6*second, "stop"))
			w.put(started(ofQ, w.cwd(), q.Started.Add(900*time.Millisecond), 20*time.Millisecond).prompt(5*second, "y").answer(6*second, "stop"))
			same(map[string]string{ofP: "idle completed", ofQ: "idle completed"})
			w.put(started(next, w.cwd(), p.Started.Add(20*second), 20*time.Millisecond).prompt(5*second, "new").answer(6*second, "stop"))
			same(map[string]string{ofP: "stopped completed", ofQ: "idle completed", next: "idle completed"})
		})
	}
}

// TestOldVersionAlone: below 0.87 the only session of the folder that was written since its process began is idle or unknown.
func TestOldVersionAlone(t *testing.T) {
	w := newFixture(t)
	p, stop := w.start(agentname.Pi, w.cwd())
	s := newScript(oldA, w.cwd(), p.Started.Add(second)).begin().prompt(5*second, "x")
	w.put(s)
	if got := w.expect(w.store(agentname.Pi), map[string]string{oldA: "unknown"}); !strings.Contains(got[oldA].Evidence, "known from Pi 0.87 on") {
		t.Error(got[oldA].Evidence)
	}
	w.put(s.answer(6*second, "stop"))
	w.expect(w.store(agentname.Pi), map[string]string{oldA: "idle completed"})
	stop()
	w.expect(w.store(agentname.Pi), map[string]string{oldA: "stopped completed"})
}

// Rollcall's own reads leave the time of the last access as it was.
func TestReadsLeaveNoTrace(t *testing.T) {
	w := newFixture(t)
	path := w.put(newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop"))
	old := time.Now().Add(-48 * time.Hour)
	w.check(os.Chtimes(path, old, time.Now()))
	got := w.expect(w.store(agentname.Pi), map[string]string{idA: "stopped completed"})
	if _, err := w.store(agentname.Pi).Peek(t.Context(), got[idA], 5); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(path)
	w.check(err)
	if at := agentfile.Accessed(info); !at.Equal(old.Truncate(time.Nanosecond)) {
		t.Errorf("accessed at %v, not %v", at, old)
	}
}

// A process that is connected and has stored nothing may be in a first turn.
func TestConnectedWithoutSession(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(w.home, "model"))
	w.check(err)
	t.Cleanup(func() { listener.Close() })
	a := w.store(agentname.Pi)
	w.expect(a, map[string]string{processID(p): "idle"})
	w.order(p, order{Dial: listener.Addr().String()})
	got := w.expect(a, map[string]string{processID(p): "unknown"})
	if !strings.Contains(got[processID(p)].Evidence, "in a first turn") {
		t.Error(got[processID(p)].Evidence)
	}
}

// blindTable is a table of a system that does not show the connections of processes, such as macOS and Windows.
type blindTable struct{ ownTable }

func (blindTable) Sockets(proc.Identity) (int, error) { return 0, proc.ErrUnsupported }

// Where connections can't be seen, a process that has stored nothing may be in a first turn.
func TestConnectionNotKnown(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	a := newStore(agentname.Pi, adapters.Config{Home: w.home, Env: func(string) string { return "" }, Table: blindTable{w.ownTable()}})
	got := w.expect(a, map[string]string{processID(p): "unknown"})
	if e := got[processID(p)].Evidence; !strings.Contains(e, "has stored nothing") || !strings.Contains(e, "connections can't be read") {
		t.Error(e)
	}
}
