package pistore

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
)

// Ids of versions that do not number them.
const (
	oldA = "c9837d5d-e0a9-42c0-8baf-7d722a528008"
	oldB = "d229aa7e-f6e6-437e-84d9-0ab33e03741b"
	oldC = "01a2020f-b46f-7108-9e2b-646c6268441e"
)

// Three were started together, so that their starts don't tell whose is whose.
// Who wrote when a session grew does, and that one of them was killed is seen.
func TestKilledOfThreeStartedTogether(t *testing.T) {
	w := newFixture(t)
	w.counts = true
	a := w.store(adapters.Pi)
	p, stop := w.start(adapters.Pi, w.cwd())
	q, _ := w.start(adapters.Pi, w.cwd())
	r, _ := w.start(adapters.Pi, w.cwd())
	w.expect(a, map[string]string{processID(p): "idle", processID(q): "idle", processID(r): "idle"})
	ofP := newScript(oldA, w.cwd(), p.Started.Add(second)).begin().prompt(5*second, "x").answer(6*second, "stop")
	ofQ := newScript(oldB, w.cwd(), q.Started.Add(second)).begin().prompt(5*second, "y").answer(6*second, "stop")
	w.writes(p, ofP)
	w.expect(a, map[string]string{oldA: "idle completed", processID(q): "idle", processID(r): "idle"})
	w.writes(q, ofQ)
	got := w.expect(a, map[string]string{oldA: "idle completed", oldB: "idle completed", processID(r): "idle"})
	if got[oldA].Process != p.Identity || got[oldB].Process != q.Identity {
		t.Errorf("%v, %v", got[oldA].Process, got[oldB].Process)
	}
	w.writes(p, ofP.prompt(7*second, "more"))
	w.expect(a, map[string]string{oldA: "working", oldB: "idle completed", processID(r): "idle"})
	stop()
	for range 2 {
		got = w.expect(a, map[string]string{oldA: "stopped died", oldB: "idle completed", processID(r): "idle"})
		if got[oldB].Process != q.Identity {
			t.Errorf("%v, want %v", got[oldB].Process, q)
		}
	}
}

// They grew at one look, so that it can't be told who wrote which; then each alone.
func TestWritersTellLater(t *testing.T) {
	w := newFixture(t)
	w.counts = true
	a := w.store(adapters.Pi)
	p, stop := w.start(adapters.Pi, w.cwd())
	q, _ := w.start(adapters.Pi, w.cwd())
	ofP := newScript(oldA, w.cwd(), p.Started.Add(second)).begin().prompt(5*second, "x").answer(6*second, "stop")
	ofQ := newScript(oldB, w.cwd(), q.Started.Add(second)).begin().prompt(5*second, "y").answer(6*second, "stop")
	w.writes(p, ofP)
	w.writes(q, ofQ)
	got := w.expect(a, map[string]string{oldA: "idle completed", oldB: "idle completed"})
	if !got[oldA].Process.IsZero() {
		t.Errorf("%+v", got[oldA])
	}
	w.writes(q, ofQ.prompt(7*second, "more"))
	got = w.expect(a, map[string]string{oldA: "idle completed", oldB: "working"})
	if got[oldA].Process != p.Identity || got[oldB].Process != q.Identity {
		t.Errorf("%v, %v", got[oldA].Process, got[oldB].Process)
	}
	stop()
	w.expect(a, map[string]string{oldA: "stopped completed", oldB: "working"})
}

// /new in one of two processes of a version that does not number its ids: the
// other one's session stays what it is.
func TestNewBesideAnother(t *testing.T) {
	w := newFixture(t)
	w.counts = true
	a := w.store(adapters.Pi)
	p, stop := w.start(adapters.Pi, w.cwd())
	q, _ := w.start(adapters.Pi, w.cwd())
	w.expect(a, map[string]string{processID(p): "idle", processID(q): "idle"})
	w.writes(p, newScript(oldA, w.cwd(), p.Started.Add(second)).begin().prompt(5*second, "x").answer(6*second, "stop"))
	w.expect(a, map[string]string{oldA: "idle completed", processID(q): "idle"})
	w.writes(q, newScript(oldB, w.cwd(), q.Started.Add(second)).begin().prompt(5*second, "y").answer(6*second, "stop"))
	w.expect(a, map[string]string{oldA: "idle completed", oldB: "idle completed"})
	w.writes(p, newScript(oldC, w.cwd(), p.Started.Add(20*second)).begin().prompt(second, "new").answer(2*second, "stop"))
	for range 2 {
		got := w.expect(a, map[string]string{oldA: "stopped completed", oldB: "idle completed", oldC: "idle completed"})
		if got[oldB].Process != q.Identity || got[oldC].Process != p.Identity {
			t.Errorf("%v, %v", got[oldB].Process, got[oldC].Process)
		}
	}
	stop()
	w.expect(a, map[string]string{oldA: "stopped completed", oldB: "idle completed", oldC: "stopped completed"})
}

// What another one wrote that has ended since is not that of those that wrote
// less.
func TestOneShotBesideIdle(t *testing.T) {
	w := newFixture(t)
	w.counts = true
	a := w.store(adapters.Pi)
	p, _ := w.start(adapters.Pi, w.cwd())
	w.expect(a, map[string]string{processID(p): "idle"})
	w.writes(p, newScript(oldA, w.cwd(), p.Started.Add(second)).begin().prompt(5*second, "x").answer(6*second, "stop"))
	w.expect(a, map[string]string{oldA: "idle completed"})
	q, stop := w.start(adapters.Pi, w.cwd())
	w.writes(q, newScript(oldC, w.cwd(), p.Started.Add(20*second)).begin().prompt(second, "one shot").answer(2*second, "stop"))
	stop()
	for range 2 {
		got := w.expect(a, map[string]string{oldA: "idle completed", oldC: "stopped completed"})
		if got[oldA].Process != p.Identity {
			t.Errorf("%+v", got[oldA])
		}
	}
}

// A session is begun, its process killed, and it is resumed, all between two looks:
// who resumed it wrote less than it has grown by, and has it all the same.
func TestResumedBetweenTwoLooks(t *testing.T) {
	for name, seen := range map[string]bool{"the first process was seen": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.counts = true
			a := w.store(adapters.Pi)
			w.now = time.Now().Add(-10 * second) // before what is begun
			w.expect(a, map[string]string{})
			w.now = time.Time{}
			p, stop := w.start(adapters.Pi, w.cwd())
			if seen {
				w.expect(a, map[string]string{processID(p): "idle"})
			}
			s := newScript(oldA, w.cwd(), p.Started.Add(-3*second)).begin().prompt(second, strings.Repeat("x", 5000)).answer(2*second, "stop")
			w.writes(p, s)
			stop()
			q, _ := w.start(adapters.Pi, w.cwd())
			w.writes(q, s.prompt(20*second, "more"))
			for range 2 {
				if got := w.expect(a, map[string]string{oldA: "working"}); got[oldA].Process != q.Identity {
					t.Errorf("%v, want %v", got[oldA].Process, q)
				}
			}
		})
	}
}
