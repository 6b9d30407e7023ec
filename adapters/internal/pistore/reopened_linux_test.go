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
)

// A process that read a session when it began has it, before any prompt. A turn
// that was left open before is not that process's.
func TestReopened(t *testing.T) {
	tests := []struct {
		name, live, alone string
		turn              func(s *script)
	}{
		{"turn over", "idle completed", "stopped completed", func(s *script) { s.answer(2*second, "stop") }},
		{"turn left open", "idle died", "stopped died", func(*script) {}},
		{"tool left open", "idle died", "stopped died", func(s *script) { s.answer(2*second, "toolUse", call("a", "ls")) }},
		{"to be tried again", "idle died", "stopped died", func(s *script) { s.sys(second).answer(2*second, "error").omit(2 * second) }},
		{"failed", "idle failed", "stopped failed", func(s *script) { s.answer(2*second, "error") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newFixture(t)
			s := newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old")
			test.turn(s)
			path := w.put(s)
			w.put(newScript(idC, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(time.Minute, "not read").answer(2*time.Minute, "stop"))
			p, stop := w.start(adapters.Pi, w.cwd())
			a := w.store(adapters.Pi)
			w.expect(a, map[string]string{idA: test.alone, idC: "stopped completed", processID(p): "idle"})
			w.reads(p, path)
			for _, a := range []*Store{a, w.store(adapters.Pi)} {
				got := w.expect(a, map[string]string{idA: test.live, idC: "stopped completed"})
				if x := got[idA]; x.Process != p.Identity || !strings.Contains(x.Evidence, "read the session's file") {
					t.Errorf("%+v", x)
				}
			}
			s.prompt(time.Hour+time.Minute, "again")
			w.put(s)
			w.expect(a, map[string]string{idA: "working", idC: "stopped completed"})
			stop()
			w.expect(a, map[string]string{idA: "stopped died", idC: "stopped completed"})
		})
	}
}

// Two processes opened one session.
func TestReopenedTwice(t *testing.T) {
	w := newFixture(t)
	path := w.put(newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old"))
	p, stop := w.start(adapters.Pi, w.cwd())
	q, _ := w.start(adapters.Pi, w.cwd())
	a := w.store(adapters.Pi)
	w.reads(p, path)
	got := w.expect(a, map[string]string{idA: "idle died"})
	if x := got[idA]; !x.Process.IsZero() || !strings.Contains(x.Evidence, "can't be distinguished") {
		t.Errorf("%+v", x)
	}
	stop()
	if got = w.expect(a, map[string]string{idA: "idle died"}); got[idA].Process != q.Identity {
		t.Errorf("%+v", got[idA])
	}
}

// Of two processes that started together, one opened a session of its folder. The other one, which watches the
// repository of another folder, did not.
func TestReopenedBesideAnotherFolder(t *testing.T) {
	w := newFixture(t)
	dir, git := w.repository("work")
	other, otherGit := w.repository("other")
	path := w.put(newScript(idA, dir, time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop"))
	q, _ := w.start(adapters.Pi, other, "ROLLCALL_TEST_WATCH="+otherGit)
	p, stop := w.start(adapters.Pi, dir, "ROLLCALL_TEST_WATCH="+git)
	a := w.store(adapters.Pi)
	w.reads(p, path)
	if got := w.expect(a, map[string]string{idA: "idle completed", processID(q): "idle"}); got[idA].Process != p.Identity {
		t.Errorf("%+v", got[idA])
	}
	stop()
	w.expect(a, map[string]string{idA: "stopped completed", processID(q): "idle"})
}

// What was read long after a process began, or before, is not what it opened; nor
// is a file's creation a read.
func TestNotReopened(t *testing.T) {
	w := newFixture(t)
	path := w.put(newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop"))
	created := w.put(newScript(idC, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop"))
	p, _ := w.start(adapters.Pi, w.cwd())
	now := time.Now()
	for _, at := range []time.Time{p.Started.Add(-time.Second), p.Started.Add(startLimit + time.Second)} {
		w.check(os.Chtimes(path, at, now.Add(-time.Minute)))
		w.check(os.Chtimes(created, now, now))
		w.expect(w.store(adapters.Pi), map[string]string{idA: "stopped completed", idC: "stopped completed", processID(p): "idle"})
	}
}

// Rollcall's own reads leave the time of the last access as it was.
func TestReadsLeaveNoTrace(t *testing.T) {
	w := newFixture(t)
	path := w.put(newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop"))
	old := time.Now().Add(-48 * time.Hour)
	w.check(os.Chtimes(path, old, time.Now()))
	got := w.expect(w.store(adapters.Pi), map[string]string{idA: "stopped completed"})
	if _, err := w.store(adapters.Pi).Peek(t.Context(), got[idA], 5); err != nil {
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
	p, _ := w.start(adapters.Pi, w.cwd())
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(w.home, "model"))
	w.check(err)
	t.Cleanup(func() { listener.Close() })
	a := w.store(adapters.Pi)
	w.expect(a, map[string]string{processID(p): "idle"})
	w.order(p, order{Dial: listener.Addr().String()})
	got := w.expect(a, map[string]string{processID(p): "unknown"})
	if !strings.Contains(got[processID(p)].Evidence, "in a first turn") {
		t.Error(got[processID(p)].Evidence)
	}
}
