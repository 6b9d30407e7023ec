package pistore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// noProcesses is the table of a machine on which neither agent runs.
type noProcesses struct{ proc.Lister }

func (noProcesses) List(context.Context) ([]proc.Process, error) { return nil, nil }
func (noProcesses) Alive(proc.Identity) bool                     { return false }

const (
	rustA = "6f1d2c3b-1111-4222-8333-444455556666"
	rustB = "7a1d2c3b-1111-4222-8333-444455556666"
)

// rustScript is a session as pi_agent_rust writes it: SessionHeader and
// SessionEntry of its src/session.rs.
func rustScript(id, cwd string, at time.Time) *script {
	s := newScript(id, cwd, at, "provider", "anthropic", "modelId", "claude", "thinkingLevel", "off")
	s.label = id[:8]
	return s.begin().prompt(2*second, "rust").answer(3*second, "stop")
}

// both asks both adapters at once and holds that they share no session.
func (w *fixture) both(pi, rust *Store) (list map[string]adapters.Session, errPi, errRust error) {
	w.Helper()
	var wg sync.WaitGroup
	var ofPi, ofRust map[string]adapters.Session
	wg.Go(func() { ofPi, _, errPi = ask(w, pi, adapters.Query{}) })
	wg.Go(func() { ofRust, _, errRust = ask(w, rust, adapters.Query{}) })
	wg.Wait()
	for id, x := range ofRust {
		if _, twice := ofPi[id]; twice {
			w.Errorf("session %s is listed by both", id)
		}
		ofPi[id] = x
	}
	return ofPi, errPi, errRust
}

// The two share a store: each session is listed once, by the one that wrote it.
func TestSharedStore(t *testing.T) {
	w := newFixture(t)
	old := time.Now().Add(-time.Hour)
	p, stop := w.start(agentname.Pi, w.cwd())
	r, stopRust := w.start(agentname.PiRust, w.cwd())
	w.put(newScript(idA, w.cwd(), old).begin().prompt(second, "x").answer(2*second, "stop"))
	w.put(newScript(idC, w.cwd(), p.Started.Add(second)).begin().sys(second).prompt(5*second, "x"))
	w.put(rustScript(rustA, w.cwd(), old))
	w.put(rustScript(rustB, w.cwd(), r.Started.Add(15*second)).prompt(20*second, "y"))
	named := rustScript(strings.Replace(rustA, "6f", "5f", 1), w.cwd(), old)
	named.label = "my-file"
	w.put(named)
	chosen := newScript("deadbeef", w.cwd(), old).begin().prompt(second, "x").answer(2*second, "stop") // Pi's --session-id
	w.put(chosen)
	pi, rust := w.store(agentname.Pi), w.store(agentname.PiRust)
	for range 3 {
		got, err1, err2 := w.both(pi, rust)
		if err1 != nil || err2 != nil {
			t.Error(err1, err2)
		}
		for id, agent := range map[string]adapters.Name{idA: agentname.Pi, idC: agentname.Pi, "deadbeef": agentname.Pi,
			rustA: agentname.PiRust, rustB: agentname.PiRust, named.id: agentname.PiRust} {
			if got[id].Agent != agent {
				t.Errorf("%s is %q's, want %s", id, got[id].Agent, agent)
			}
		}
	}
	stop()
	stopRust()
	got, err1, err2 := w.both(pi, rust)
	if err1 != nil || err2 != nil || len(got) != 6 {
		t.Error(got, err1, err2)
	}
	for id, x := range got {
		if x.Status != adapters.Stopped {
			t.Errorf("%s: %s, %s", id, x.Status, x.Evidence)
		}
	}
}

// Neither of the two begins a session of the other: it is over when its own process is killed beside one of the other's in its folder.
func TestKilledBesideOther(t *testing.T) {
	for _, killed := range []adapters.Name{agentname.Pi, agentname.PiRust} {
		t.Run(string(killed), func(t *testing.T) {
			w := newFixture(t)
			other := agentname.PiRust
			if killed == other {
				other = agentname.Pi
			}
			w.start(other, w.cwd())
			p, stop := w.start(killed, w.cwd())
			id, s := idA, newScript(idA, w.cwd(), p.Started.Add(second)).begin().sys(0)
			if killed == agentname.PiRust {
				id, s = rustA, rustScript(rustA, w.cwd(), p.Started.Add(second))
			}
			w.put(s.prompt(3*second, "x"))
			w.both(w.store(agentname.Pi), w.store(agentname.PiRust))
			stop()
			got, _, _ := w.both(w.store(agentname.Pi), w.store(agentname.PiRust))
			if x := got[id]; scene.TruthOf(&x) != (scene.Truth{Status: adapters.Stopped, Outcome: adapters.Died}) {
				t.Errorf("%s, %s", scene.TruthOf(&x), x.Evidence)
			}
		})
	}
}

// A file that pi_agent_rust has rewritten is another file of the same name.
func TestRewritten(t *testing.T) {
	w := newFixture(t)
	r, _ := w.start(agentname.PiRust, w.cwd())
	s := rustScript(rustA, w.cwd(), r.Started.Add(second))
	path := w.put(s)
	w.check(os.WriteFile(path+".lock", nil, 0o600))
	w.check(os.MkdirAll(strings.TrimSuffix(path, ".jsonl")+".v2", 0o755))
	w.check(os.WriteFile(filepath.Join(filepath.Dir(filepath.Dir(path)), "session-index.sqlite"), []byte("cache"), 0o600))
	a := w.store(agentname.PiRust)
	x := w.expect(a, map[string]string{rustA: "idle completed"})[rustA]
	if x.Process != r.Identity || x.Model != "mock/mock-1" || x.Tokens == nil || x.Tokens.Input != 10 || x.CostUSD != 0.5 {
		t.Errorf("%+v", x)
	}
	s.prompt(4*second, "next").answer(5*second, "aborted")
	w.check(os.WriteFile(path+".tmp", []byte(s.text()), 0o600))
	w.check(os.Rename(path+".tmp", path))
	x = w.expect(a, map[string]string{rustA: "idle interrupted"})[rustA]
	if x.LastPrompt != "next" || x.Tokens.Input != 20 {
		t.Errorf("%+v", x)
	}
}

// pi_agent_rust stores a turn late: a tool of it tells that one runs.
func TestRustTool(t *testing.T) {
	w := newFixture(t)
	r, _ := w.start(agentname.PiRust, w.cwd(), "ROLLCALL_TEST_TOOL=other")
	w.put(rustScript(rustA, w.cwd(), r.Started.Add(second)))
	w.expect(w.store(agentname.PiRust), map[string]string{rustA: "working"})
}

// A session that a build of pi_agent_rust keeps in SQLite is not read, and that is said.
func TestSQLite(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, ".pi", "agent", "sessions", "--x--")
	w.check(os.MkdirAll(dir, 0o755))
	w.check(os.WriteFile(filepath.Join(dir, "2026-11-21T05-00-00.000Z_6f1d2c3b.sqlite"), []byte("SQLite format 3"), 0o600))
	w.put(rustScript(rustB, "/x", time.Now().Add(-time.Hour)))
	got, roll, err := ask(t, w.store(agentname.PiRust), adapters.Query{})
	if err != nil || len(got) != 1 || roll.Skipped["session of pi_agent_rust in SQLite, which is not read"] != 1 {
		t.Error(got, roll.Skipped, err)
	}
}

// Who is installed: neither, Pi alone, both.
func TestAbsent(t *testing.T) {
	home := t.TempDir()
	asked := func(name adapters.Name) error {
		s := newStore(name, adapters.Config{Home: home, Env: func(string) string { return "" }, Table: noProcesses{}})
		roll, err := s.Discover(t.Context(), adapters.Query{})
		if len(roll.LookedIn) == 0 {
			t.Errorf("%s looked nowhere", name)
		}
		return err
	}
	if e1, e2 := asked(agentname.Pi), asked(agentname.PiRust); !errors.Is(e1, adapters.ErrAbsent) || !errors.Is(e2, adapters.ErrAbsent) {
		t.Error(e1, e2)
	}
	sessions := filepath.Join(home, ".pi", "agent", "sessions")
	_ = os.MkdirAll(sessions, 0o755)
	if e1, e2 := asked(agentname.Pi), asked(agentname.PiRust); e1 != nil || !errors.Is(e2, adapters.ErrAbsent) {
		t.Error(e1, e2)
	}
	_ = os.WriteFile(filepath.Join(sessions, "session-index.sqlite"), nil, 0o600)
	if e1, e2 := asked(agentname.Pi), asked(agentname.PiRust); e1 != nil || e2 != nil {
		t.Error(e1, e2)
	}
}

// What a process is can't be told for good while its store is away.
func TestRustStoreIsAwayForAMoment(t *testing.T) {
	w := newFixture(t)
	a := w.store(agentname.PiRust)
	p, _ := w.start(agentname.PiRust, w.cwd())
	w.expect(a, map[string]string{processID(p): "idle"})
	store := filepath.Join(w.home, ".pi")
	w.check(os.Rename(store, store+".away"))
	w.now = time.Now().Add(20 * second)
	_, _ = a.Discover(t.Context(), adapters.Query{})
	w.check(os.Rename(store+".away", store))
	w.expect(a, map[string]string{processID(p): "idle"})
}
