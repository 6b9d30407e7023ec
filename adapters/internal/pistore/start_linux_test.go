package pistore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
)

// started is a session as 1.5.2 begins it, its first entry so long after the header.
func started(id, cwd string, at time.Time, first time.Duration) *script {
	return newScript(id, cwd, at).entry("model_change", first, map[string]any{"provider": "mock", "modelId": "mock-1"}).
		sys(3 * second)
}

// Starts that a busy machine delayed (1.5.2, 20 processes for 2 cores): how long
// the first entry took to follow tells that.
func TestBusyStarts(t *testing.T) {
	w := newWorld(t)
	p, stop := w.start(adapters.Pi, w.cwd())
	<-time.After(time.Second)
	q, _ := w.start(adapters.Pi, w.cwd())
	// The later one was first to begin its session.
	w.put(started(idA, w.cwd(), p.Started.Add(2820*time.Millisecond), 430*time.Millisecond).prompt(4*second, "x"))
	w.put(started(idC, w.cwd(), q.Started.Add(1770*time.Millisecond), 1040*time.Millisecond).prompt(4*second, "y").answer(5*second, "stop"))
	got := w.expect(w.store(adapters.Pi), map[string]string{idA: "working", idC: "idle completed"})
	for id, s := range got {
		if !s.Process.IsZero() || !strings.Contains(s.Evidence, "which can't be told apart") {
			t.Errorf("%s: %v, %s", id, s.Process, s.Evidence)
		}
	}
	stop()
	w.expect(w.store(adapters.Pi), map[string]string{idA: "unknown", idC: "unknown"})
}

// The session of one that was killed began when those of others usually do.
func TestBusyStartBesideKilled(t *testing.T) {
	w := newWorld(t)
	p, _ := w.start(adapters.Pi, w.cwd())
	w.put(started(idA, w.cwd(), p.Started.Add(2130*time.Millisecond), 600*time.Millisecond).prompt(4*second, "x").answer(5*second, "stop"))
	w.put(started(idC, w.cwd(), p.Started.Add(820*time.Millisecond), 710*time.Millisecond).prompt(4*second, "y"))
	w.expect(w.store(adapters.Pi), map[string]string{idA: "unknown", idC: "unknown"})
}

// Pi 0.13.2 writes header and file with the first answer, with the time of then;
// the file's name has that of the start.
func TestHeaderOfFirstAnswer(t *testing.T) {
	w := newWorld(t)
	p, stop := w.start(adapters.Pi, w.cwd())
	s := newScript("d229aa7e-f6e6-437e-84d9-0ab33e03741b", w.cwd(), p.Started.Add(40*second), "provider", "mock", "modelId", "mock-1", "thinkingLevel", "off")
	path := w.put(s.prompt(-30*second, "x").answer(0, "stop").prompt(10*second, "y"))
	name := strings.NewReplacer(":", "-", ".", "-").Replace(stamp(p.Started.Add(1900*time.Millisecond))) + "_" + s.id + ".jsonl"
	w.check(os.Rename(path, filepath.Join(filepath.Dir(path), name)))
	got := w.expect(w.store(adapters.Pi), map[string]string{s.id: "working"})
	if got[s.id].Process != p.Identity {
		t.Errorf("%+v", got[s.id])
	}
	stop()
	w.expect(w.store(adapters.Pi), map[string]string{s.id: "stopped died"})
}
