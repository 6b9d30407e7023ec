package pistore

import (
	"strings"
	"testing"
	"time"

	"rollcall/internal/agentname"
)

// started is a session as 1.5.2 begins it, its first entry so long after the header.
func started(id, cwd string, at time.Time, first time.Duration) *script {
	return newScript(id, cwd, at).entry("model_change", first, map[string]any{"provider": "mock", "modelId": "mock-1"}).
		sys(3 * second)
}

// Starts that a busy machine delayed (1.5.2, 20 processes for 2 cores): how long
// the first entry took to follow tells that.
func TestBusyStarts(t *testing.T) {
	w := newFixture(t)
	p, stop := w.start(agentname.Pi, w.cwd())
	<-time.After(time.Second)
	q, _ := w.start(agentname.Pi, w.cwd())
	// The later one was first to begin its session.
	w.put(started(idA, w.cwd(), p.Started.Add(2820*time.Millisecond), 430*time.Millisecond).prompt(4*second, "x"))
	w.put(started(idC, w.cwd(), q.Started.Add(1770*time.Millisecond), 1040*time.Millisecond).prompt(4*second, "y").answer(5*second, "stop"))
	got := w.expect(w.store(agentname.Pi), map[string]string{idA: "working", idC: "idle completed"})
	for id, s := range got {
		if !s.Process.IsZero() || !strings.Contains(s.Evidence, "which can't be distinguished") {
			t.Errorf("%s: %v, %s", id, s.Process, s.Evidence)
		}
	}
	stop()
	w.expect(w.store(agentname.Pi), map[string]string{idA: "unknown", idC: "unknown"})
}

// Of three that were started together two have a session, one of them later than usual. Any of the three may have either.
func TestTogetherWithoutAllSessions(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	w.start(agentname.Pi, w.cwd())
	w.start(agentname.Pi, w.cwd())
	w.put(started(idA, w.cwd(), p.Started.Add(900*time.Millisecond), 20*time.Millisecond).prompt(4*second, "x").answer(5*second, "stop"))
	w.put(started(idC, w.cwd(), p.Started.Add(1900*time.Millisecond), 20*time.Millisecond).prompt(4*second, "y").answer(5*second, "stop"))
	for id, s := range w.expect(w.store(agentname.Pi), map[string]string{idA: "idle completed", idC: "idle completed"}) {
		if !s.Process.IsZero() || !strings.Contains(s.Evidence, "which can't be distinguished") {
			t.Errorf("%s: %v, %s", id, s.Process, s.Evidence)
		}
	}
}

// The session of one that was killed began when those of others usually do.
func TestBusyStartBesideKilled(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	w.put(started(idA, w.cwd(), p.Started.Add(2130*time.Millisecond), 600*time.Millisecond).prompt(4*second, "x").answer(5*second, "stop"))
	w.put(started(idC, w.cwd(), p.Started.Add(820*time.Millisecond), 710*time.Millisecond).prompt(4*second, "y"))
	w.expect(w.store(agentname.Pi), map[string]string{idA: "unknown", idC: "unknown"})
}

// A machine so busy that Pi 1.5.2 takes many seconds to start, after which nothing
// else is slow: its threads tell that it made the session. Otherwise it may have it.
func TestSlowStart(t *testing.T) {
	const never = -1
	tests := []struct {
		name   string
		at     time.Duration // when the session began
		pool   time.Duration // when the threads did
		open   bool          // the turn
		want   string
		owned  bool
		reason string
	}{
		{name: "slow", at: 8900 * time.Millisecond, pool: 8990 * time.Millisecond, want: "idle completed", owned: true},
		{name: "slow, working", at: 8900 * time.Millisecond, pool: 8990 * time.Millisecond, open: true, want: "working", owned: true},
		{name: "slower", at: 70 * second, pool: 70*second + 400*time.Millisecond, open: true, want: "working", owned: true},
		{name: "another's", at: 8900 * time.Millisecond, pool: 1100 * time.Millisecond, want: "unknown"},
		{name: "another's, open", at: 8900 * time.Millisecond, pool: 1100 * time.Millisecond, open: true, want: "unknown", reason: "it was begun while process"},
		{name: "a name was looked up", at: 8900 * time.Millisecond, pool: 8 * second, want: "unknown", reason: "it was begun while process"},
		{name: "another's before it had started", at: 5 * second, pool: 8 * second, want: "unknown", reason: "it was begun while process"},
		{name: "nothing tells", at: 8900 * time.Millisecond, pool: never, want: "unknown", reason: "it was begun while process"},
		{name: "nothing tells, much later", at: 40 * second, pool: never, want: "unknown"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newFixture(t)
			p, stop := w.start(agentname.Pi, w.cwd())
			w.now = p.Started.Add(3 * time.Minute)
			w.threads[p.PID] = nil
			if test.pool != never {
				began := p.Started.Add(test.pool)
				w.threads[p.PID] = []time.Time{p.Started, p.Started.Add(2 * clockTick), p.Started.Add(2 * clockTick), began, began, began, began}
			}
			s := started(idA, w.cwd(), p.Started.Add(test.at), 60*time.Millisecond).prompt(15*second, "x")
			if !test.open {
				s.answer(16*second, "stop")
			}
			w.put(s)
			want := map[string]string{idA: test.want}
			if !test.owned {
				want[processID(p)] = "idle"
			}
			got := w.expect(w.store(agentname.Pi), want)[idA]
			if test.owned != (got.Process == p.Identity) || !strings.Contains(got.Evidence, test.reason) {
				t.Errorf("process %v, evidence %q", got.Process, got.Evidence)
			}
			stop()
			after := "stopped completed"
			if test.open {
				after = "stopped died"
			}
			w.expect(w.store(agentname.Pi), map[string]string{idA: after})
		})
	}
}

// Runs that ended within seconds of the start of a Pi that has stored nothing: it
// has written less than they have stored.
func TestRunWhileFreshStarted(t *testing.T) {
	for _, id := range []string{idA, oldA} {
		w := newFixture(t)
		w.counts = true
		p, stop := w.start(agentname.Pi, w.cwd())
		w.threads[p.PID] = nil
		s := newScript(id, w.cwd(), p.Started.Add(2*second)).begin()
		if id == idA {
			s = started(id, w.cwd(), p.Started.Add(2*second), 20*time.Millisecond)
		}
		w.put(s.prompt(2*second, "run").answer(3*second, "stop"))
		w.expect(w.store(agentname.Pi), map[string]string{id: "stopped completed", processID(p): "idle"})
		stop()
		w.expect(w.store(agentname.Pi), map[string]string{id: "stopped completed"})
	}
}

// Two sessions that only the first of four processes can have begun are in doubt, although the group has as many sessions as processes. A chain in which
// each session leaves one process is certain.
func TestGroupsOfStarts(t *testing.T) {
	p := make([]*process, 4)
	for i := range p {
		p[i] = &process{}
	}
	for _, test := range []struct {
		name            string
		group           [][]*process
		owned, live, no int
	}{
		{"two in one", [][]*process{p[:1], p[:1], p}, 0, 0, 3},
		{"three in two", [][]*process{p[:2], p[:2], p[:2], p}, 0, 0, 4},
		{"chain", [][]*process{p[:1], p[:2], p[:3]}, 3, 0, 0},
		{"pair", [][]*process{p[:2], p[:2]}, 0, 2, 0},
		{"pair and one", [][]*process{p[:2], p[:2], p[:3]}, 1, 2, 0},
		{"one of many", [][]*process{p}, 0, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			begun, all := map[*session][]*process{}, []*session{}
			for _, hosts := range test.group {
				all = append(all, &session{})
				begun[all[len(all)-1]] = hosts
			}
			m := matcher{has: map[*process]*session{}}
			for len(begun) > 0 {
				m.assignGroup(takeGroup(begun))
			}
			owned := 0
			live := 0
			no := 0
			for _, s := range all {
				switch {
				case s.owner != nil && m.has[s.owner] == s:
					owned++
				case len(s.hosts) > 0:
					live++
				case s.doubt != "":
					no++
				}
			}
			if owned != test.owned || live != test.live || no != test.no {
				t.Errorf("owned %d, live %d, in doubt %d", owned, live, no)
			}
		})
	}
}
