package pistore

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

func processID(p proc.Process) string { return fmt.Sprintf("process-%d-%d", p.PID, p.Start) }

// What the last entries say, with a process and without.
func TestStatus(t *testing.T) {
	tests := []struct {
		name        string
		script      func(s *script)
		live, alone string
		evidence    string
	}{
		{"prompt", func(s *script) { s.prompt(2*second, "x") }, "working", "stopped died", "the prompt has no answer yet"},
		{"answer", func(s *script) { s.prompt(2*second, "x").answer(3*second, "stop") }, "idle completed", "stopped completed", "completed"},
		{"cut off", func(s *script) { s.prompt(2*second, "x").answer(3*second, "length") }, "idle completed", "stopped completed", "length limit"},
		{"cut off and left out", func(s *script) { s.prompt(2*second, "x").answer(3*second, "length").omit(3 * second) }, "idle completed", "stopped", "not asked again"},
		{"aborted", func(s *script) { s.prompt(2*second, "x").answer(3*second, "aborted") }, "idle interrupted", "stopped interrupted", "interrupted"},
		{"tool", func(s *script) { s.prompt(2*second, "x").answer(3*second, "toolUse", call("a", "ls")) }, "working", "stopped died", "bash has no result yet"},
		{"one of two tools", func(s *script) {
			s.prompt(2*second, "x").answer(3*second, "toolUse", call("a", "ls"), call("b", "ls")).result(4*second, "a")
		}, "working", "stopped died", "bash has no result yet"},
		{"result", func(s *script) {
			s.prompt(2*second, "x").answer(3*second, "toolUse", call("a", "ls")).result(4*second, "a")
		}, "working", "stopped died", "a tool's result has no answer yet"},
		{"call that ended with stop", func(s *script) { s.prompt(2*second, "x").answer(3*second, "stop", call("a", "ls")) }, "working", "stopped died", "bash has no result"},
		{"failed", func(s *script) { s.sys(second).prompt(2*second, "x").answer(3*second, "error") }, "idle failed", "stopped failed", "500: mock failure"},
		{"retrying", func(s *script) { s.sys(second).prompt(2*second, "x").answer(3*second, "error").omit(3 * second) }, "working", "stopped died", "it is being retried"},
		{"second attempt", func(s *script) {
			s.sys(second).prompt(2*second, "x").answer(3*second, "error").omit(3*second).answer(4*second, "error").omit(4 * second)
		}, "working", "stopped died", "attempt 2 failed"},
		{"gave up", func(s *script) {
			s.sys(second).prompt(2*second, "x").answer(3*second, "error").omit(3*second).answer(4*second, "error")
		}, "idle failed", "stopped failed", "last turn failed"},
		{"then settings", func(s *script) {
			s.prompt(2*second, "x").answer(3*second, "stop").begin().entry("label", 4*second, nil)
		}, "idle completed", "stopped completed", ""},
		{"then a user's command", func(s *script) {
			s.prompt(2*second, "x").answer(3*second, "stop").message(4*second, map[string]any{"role": "bashExecution", "command": "ls"})
		}, "idle completed", "stopped completed", ""},
		{"compaction in a turn", func(s *script) {
			s.prompt(2*second, "x").answer(3*second, "toolUse", call("a", "ls")).result(3*second, "a").entry("compaction", 4*second, map[string]any{"summary": "s"})
		}, "working", "stopped died", ""},
		{"another branch, from a prompt", func(s *script) {
			s.prompt(2*second, "x").answer(3*second, "stop").entry("label", 4*second, map[string]any{"parentId": "00000002"})
		}, "idle", "stopped", "another branch"},
		{"another branch, summarised", func(s *script) {
			s.prompt(2*second, "x").answer(3*second, "stop").entry("branch_summary", 4*second, map[string]any{"parentId": "00000002"})
		}, "idle", "stopped", "another branch"},
		{"another branch, prompted", func(s *script) {
			s.prompt(2*second, "x").answer(3*second, "stop")
			s.last = "00000001"
			s.prompt(4*second, "y")
		}, "working", "stopped died", ""},
		{"an extension's message", func(s *script) {
			s.prompt(2*second, "x").answer(3*second, "stop").entry("custom_message", 4*second, map[string]any{"customType": "c", "content": "z"})
		}, "unknown", "stopped completed", "may have begun a turn"},
		{"an extension's message in a turn", func(s *script) {
			s.prompt(2*second, "x").entry("custom_message", 2*second, map[string]any{"customType": "c"})
		}, "working", "stopped died", ""},
		{"unknown stop reason", func(s *script) { s.prompt(2*second, "x").answer(3*second, "sleepy") }, "idle", "stopped", "stop reason sleepy"},
		{"nothing yet", func(*script) {}, "idle", "stopped", "no turn yet"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newFixture(t)
			p, stop := w.start(agentname.Pi, w.cwd())
			w.now = p.Started.Add(6 * second)
			s := newScript(idA, w.cwd(), p.Started.Add(900*time.Millisecond)).begin()
			test.script(s)
			w.put(s)
			a := w.store(agentname.Pi)
			got := w.expect(a, map[string]string{idA: test.live})[idA]
			if got.Process != p.Identity || !strings.Contains(got.Evidence, test.evidence) {
				t.Errorf("%v, evidence %q", got.Process, got.Evidence)
			}
			stop()
			w.expect(a, map[string]string{idA: test.alone})
			w.expect(w.store(agentname.Pi), map[string]string{idA: test.alone})
		})
	}
}

// A retry that is cancelled leaves no trace: when its answer would be due, it can't
// be told.
func TestRetryCancelled(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	w.put(newScript(idA, w.cwd(), p.Started.Add(second)).begin().sys(second).prompt(2*second, "x").answer(3*second, "error").omit(3 * second))
	failed := p.Started.Add(4 * second)
	w.now = failed.Add(8 * second)
	w.expect(w.store(agentname.Pi), map[string]string{idA: "working"})
	w.now = failed.Add(30 * second)
	got := w.expect(w.store(agentname.Pi), map[string]string{idA: "unknown"})
	if e := got[idA].Evidence; !strings.Contains(e, "the user cancelled it, which Pi does not record") {
		t.Error(e)
	}
}

// An answer that was cut off is left out of the context before Pi compacts it, and asks again only if that goes well.
func TestCutOff(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	w.put(newScript(idA, w.cwd(), p.Started.Add(second)).begin().prompt(2*second, "x").answer(3*second, "length").omit(3 * second))
	left := p.Started.Add(4 * second)
	w.now = left.Add(second)
	got := w.expect(w.store(agentname.Pi), map[string]string{idA: "working"})
	if again := got[idA].AskAgain; again.Sub(left.Add(2*second)).Abs() > time.Millisecond { // which files have
		t.Errorf("to be asked again at %v", again)
	}
	w.now = left.Add(3 * second)
	w.expect(w.store(agentname.Pi), map[string]string{idA: "idle completed"})
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(w.home, "model"))
	w.check(err)
	t.Cleanup(func() { listener.Close() })
	w.order(p, order{Dial: listener.Addr().String()})
	got = w.expect(w.store(agentname.Pi), map[string]string{idA: "unknown"})
	if got[idA].AskAgain.IsZero() {
		t.Error("not to be asked again")
	}
}

// A tool's environment says which session runs it, whatever the times say.
func TestTool(t *testing.T) {
	w := newFixture(t)
	at := time.Now().Add(-time.Hour)
	w.put(newScript(idA, w.cwd(), at).begin().sys(second).prompt(2*second, "x").answer(time.Hour+second, "toolUse", call("a", "sleep 100")))
	w.put(newScript(idC, "/elsewhere", at).begin().sys(second).prompt(2*second, "x").answer(3*second, "stop"))
	p, _ := w.start(agentname.Pi, w.cwd(), "ROLLCALL_TEST_TOOL="+idA)
	got := w.expect(w.store(agentname.Pi), map[string]string{idA: "working", idC: "stopped completed"})
	if got[idA].Process != p.Identity || !strings.Contains(got[idA].Evidence, "PI_SESSION_ID") {
		t.Errorf("%+v", got[idA])
	}
}

// A process that has stored nothing is listed too. The sessions of its folder stay
// what they were.
func TestProcessOnly(t *testing.T) {
	w := newFixture(t)
	p, stop := w.start(agentname.Pi, w.cwd())
	a := w.store(agentname.Pi)
	got := w.expect(a, map[string]string{processID(p): "idle"})
	if x := got[processID(p)]; x.Process != p.Identity || x.CWD != w.cwd() || !x.IsProcess() || !strings.Contains(x.Evidence, "open, no session yet") {
		t.Errorf("%+v", x)
	}
	if one, _, _ := ask(t, a, adapters.Query{IDs: []string{processID(p)}}); len(one) != 1 {
		t.Errorf("asked for alone: %v", one)
	}
	old := time.Now().Add(-2 * time.Hour)
	w.put(newScript(idC, w.cwd(), old).begin().prompt(second, "old").answer(2*second, "stop"))
	w.put(newScript(idB, w.cwd(), old.Add(-time.Hour)).begin().prompt(second, "older").answer(2*second, "stop"))
	w.expect(a, map[string]string{processID(p): "idle", idC: "stopped completed", idB: "stopped completed"})
	w.put(newScript(idA, w.cwd(), p.Started.Add(second)).begin().prompt(2*second, "new").answer(3*second, "stop"))
	w.expect(a, map[string]string{idA: "idle completed", idC: "stopped completed", idB: "stopped completed"})
	stop()
	w.expect(a, map[string]string{idA: "stopped completed", idC: "stopped completed", idB: "stopped completed"})
}

// A resumed session is found when it is prompted.
func TestResumed(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	old := p.Started.Add(-time.Hour)
	s := newScript(idA, w.cwd(), old).begin().prompt(second, "old").answer(2*second, "stop")
	w.put(s.prompt(time.Hour+5*second, "again"))
	w.put(newScript(idC, w.cwd(), old).begin().prompt(second, "old").answer(2*second, "stop"))
	w.order(p, order{Dial: w.listen()})
	got := w.expect(w.store(agentname.Pi), map[string]string{idA: "working", idC: "stopped completed"})
	if got[idA].Process != p.Identity || got[idA].FirstPrompt != "old" || got[idA].LastPrompt != "again" {
		t.Errorf("%+v", got[idA])
	}
}

// /new begins a session in the same process: its id follows that of the first.
func TestNewInOneProcess(t *testing.T) {
	w := newFixture(t)
	p, stop := w.start(agentname.Pi, w.cwd())
	first := newScript(idA, w.cwd(), p.Started.Add(second)).begin().sys(2*second).prompt(2*second, "x").answer(3*second, "stop")
	next := newScript(idB, w.cwd(), p.Started.Add(20*second)).begin().sys(second).prompt(second, "y")
	other := newScript(idC, w.cwd(), p.Started.Add(30*second)).begin().sys(second).prompt(second, "one shot").answer(2*second, "stop")
	w.put(first)
	a := w.store(agentname.Pi)
	w.expect(a, map[string]string{idA: "idle completed"})
	w.put(next)
	w.put(other)
	for _, a := range []*Store{a, w.store(agentname.Pi)} {
		got := w.expect(a, map[string]string{idA: "stopped completed", idB: "working", idC: "stopped completed"})
		if got[idB].Process != p.Identity {
			t.Errorf("%+v", got[idB])
		}
	}
	stop()
	w.expect(a, map[string]string{idA: "stopped completed", idB: "stopped died", idC: "stopped completed"})
}

// Versions that don't number their ids don't tell where their process went.
func TestOldVersionMayHaveGoneOn(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	w.put(newScript(oldA, w.cwd(), p.Started.Add(second)).begin().prompt(2*second, "x").answer(3*second, "stop"))
	w.put(newScript(oldC, w.cwd(), p.Started.Add(20*second)).begin().prompt(second, "y").answer(2*second, "stop"))
	w.expect(w.store(agentname.Pi), map[string]string{oldA: "unknown", oldC: "unknown", processID(p): "idle"})
}

// A process did not go on to a session that began while it was still at work in its own.
func TestStillAtWorkInItsOwn(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	w.put(newScript(idA, w.cwd(), p.Started.Add(3*second)).begin().prompt(20*second, "x").answer(30*second, "stop"))
	w.put(newScript(idC, w.cwd(), p.Started.Add(20*second)).begin().prompt(30*second, "y"))
	w.expect(w.store(agentname.Pi), map[string]string{idA: "idle completed", idC: "stopped died"})
}

// Two that began seconds apart have their sessions in that order, also when the
// machine is slow.
func TestOrder(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	<-time.After(900 * time.Millisecond)
	q, _ := w.start(agentname.Pi, w.cwd())
	w.put(newScript(idA, w.cwd(), p.Started.Add(2900*time.Millisecond)).begin().prompt(4*second, "x"))
	w.put(newScript(idC, w.cwd(), q.Started.Add(3200*time.Millisecond)).begin().prompt(4*second, "y").answer(5*second, "stop"))
	got := w.expect(w.store(agentname.Pi), map[string]string{idA: "working", idC: "idle completed"})
	if got[idA].Process != p.Identity || got[idC].Process != q.Identity {
		t.Errorf("%v, %v", got[idA].Process, got[idC].Process)
	}
}

// Two in one folder: each has its own, and the death of one is not the other's.
func TestTwoInOneFolder(t *testing.T) {
	w := newFixture(t)
	p, stop := w.start(agentname.Pi, w.cwd())
	q, _ := w.start(agentname.Pi, w.cwd())
	a := w.store(agentname.Pi)
	w.put(newScript(idA, w.cwd(), p.Started.Add(800*time.Millisecond)).begin().sys(second).prompt(5*second, "x"))
	w.put(newScript(idC, w.cwd(), q.Started.Add(900*time.Millisecond)).begin().sys(second).prompt(5*second, "y").answer(6*second, "stop"))
	got := w.expect(a, map[string]string{idA: "working", idC: "idle completed"})
	if x := got[idA]; !x.Process.IsZero() || !strings.Contains(x.Evidence, "which can't be distinguished") {
		t.Errorf("which of two that began at once: %v, %s", x.Process, x.Evidence)
	}
	stop()
	got = w.expect(w.store(agentname.Pi), map[string]string{idA: "unknown", idC: "unknown"})
	if !strings.Contains(got[idA].Evidence, "began when this session and another one did") {
		t.Error(got[idA].Evidence)
	}
}

// A session in which more was stored than a process has written is not that process's, for whoever asks.
func TestKilledBesideAnother(t *testing.T) {
	w := newFixture(t)
	w.counts = true
	p, _ := w.start(agentname.Pi, w.cwd())
	a := w.store(agentname.Pi)
	q, stop := w.start(agentname.Pi, w.cwd(), "ROLLCALL_TEST_TOOL="+idC)
	w.put(newScript(idC, w.cwd(), q.Started.Add(20*second)).begin().prompt(second, strings.Repeat("y", 5000)))
	w.expect(a, map[string]string{processID(p): "idle", idC: "working"})
	stop()
	w.expect(a, map[string]string{processID(p): "idle", idC: "stopped died"})
	w.expect(w.store(agentname.Pi), map[string]string{processID(p): "idle", idC: "stopped died"})
}

// A resumed session's process may have gone on to a new one, whose id says
// nothing of it; before and after it was seen.
func TestResumedMayHaveGoneOn(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd())
	old := p.Started.Add(-time.Hour)
	w.put(newScript(idA, w.cwd(), old).begin().sys(second).prompt(second, "old").answer(2*second, "stop").
		prompt(time.Hour+5*second, "again").answer(time.Hour+6*second, "stop"))
	a := w.store(agentname.Pi)
	w.expect(a, map[string]string{idA: "idle completed"})
	w.put(newScript(idC, w.cwd(), p.Started.Add(time.Minute)).begin().sys(second).prompt(second, "new").answer(2*second, "stop"))
	for _, a := range []*Store{a, w.store(agentname.Pi)} {
		w.expect(a, map[string]string{idA: "unknown", idC: "unknown"})
	}
}

// The sessions of the user's other homes and folders, and who sees what.
func TestFolders(t *testing.T) {
	w := newFixture(t)
	at := time.Now().Add(-time.Hour)
	put := func(dir, id string) {
		s := newScript(id, "/x", at).begin().prompt(second, "x").answer(2*second, "stop")
		w.check(os.MkdirAll(dir, 0o755))
		w.check(os.WriteFile(filepath.Join(dir, "2026-11-21T05-00-00-000Z_"+id+".jsonl"), []byte(s.text()), 0o600))
	}
	flat := filepath.Join(w.home, "flat")
	agent := filepath.Join(w.home, "agent")
	named := filepath.Join(w.home, "named")
	put(flat, "by-settings")
	put(filepath.Join(agent, "sessions", "--x--"), "by-agent-dir")
	put(named, "by-session-dir")
	put(filepath.Join(w.home, "rust", "--x--"), "by-sessions-dir")
	env := map[string]string{}
	a := newStore(agentname.Pi, adapters.Config{Home: w.home, Env: func(name string) string { return env[name] }, Table: w.ownTable()})
	w.expect(a, map[string]string{})
	w.check(os.WriteFile(filepath.Join(w.home, ".pi", "agent", "settings.json"), []byte(`{"sessionDir": "~/flat"}`), 0o600))
	w.expect(a, map[string]string{"by-settings": "stopped completed"})
	env["PI_CODING_AGENT_DIR"] = agent
	env["PI_CODING_AGENT_SESSION_DIR"] = "~/named"
	env["PI_SESSIONS_DIR"] = filepath.Join(w.home, "rust")
	w.expect(a, map[string]string{"by-agent-dir": "stopped completed", "by-session-dir": "stopped completed", "by-sessions-dir": "stopped completed"})
	clear(env)
	p, _ := w.start(agentname.Pi, "/", "PI_CODING_AGENT_SESSION_DIR="+named)
	w.expect(a, map[string]string{"by-settings": "stopped completed", "by-session-dir": "stopped completed", processID(p): "idle"})
	other, _ := w.start(agentname.Pi, "/", "HOME="+t.TempDir()) // of another home: not listed
	if other.PID == 0 || len(a.WatchPaths()) < 3 {
		t.Error(other, a.WatchPaths())
	}
	w.expect(a, map[string]string{"by-settings": "stopped completed", "by-session-dir": "stopped completed", processID(p): "idle"})
}

// The menu's question is answered as the whole one is.
func TestLiveOnly(t *testing.T) {
	w := newFixture(t)
	a := w.store(agentname.Pi)
	p, stop := w.start(agentname.Pi, w.cwd())
	q, stopOther := w.start(agentname.Pi, w.cwd(), "ROLLCALL_TEST_TOOL="+idB)
	old := time.Now().Add(-time.Hour)
	w.put(newScript(idB, "/elsewhere", old).begin().sys(second).prompt(second, "x"))
	w.put(newScript("gone", "/other", old).begin().prompt(second, "x"))
	live := func(want ...string) {
		t.Helper()
		got, _, err := ask(t, a, adapters.Query{Since: time.Now()})
		if err != nil || len(got) != len(want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
		for _, id := range want {
			if _, there := got[id]; !there {
				t.Errorf("%s is missing", id)
			}
		}
	}
	live(processID(p), idB)
	live(processID(p), idB)
	w.put(newScript(idC, w.cwd(), p.Started.Add(second)).begin().sys(second).prompt(2*second, "x"))
	live(idC, idB)
	live(idC, idB)
	stopOther()
	live(idC)
	stop()
	live()
	if q.PID == 0 {
		t.Error("no process")
	}
}
