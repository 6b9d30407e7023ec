package pistore

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// Each adapter owns its own processes, and neither owns a tool, a shell's wrapper
// or another program.
func TestOwnsProcess(t *testing.T) {
	w := newFixture(t)
	pi, rust := w.store(agentname.Pi), w.store(agentname.PiRust)
	p, stop := w.start(agentname.Pi, w.cwd(), "ROLLCALL_TEST_TOOL="+idA)
	r, _ := w.start(agentname.PiRust, w.cwd())
	wrapper := filepath.Join(t.TempDir(), "pi")
	w.check(os.WriteFile(wrapper, []byte("#!/bin/sh\nread line\n"), 0o700))
	cmd := exec.Command(wrapper)
	in, err := cmd.StdinPipe()
	w.check(err)
	w.check(cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	rows, err := w.table.List(t.Context())
	w.check(err)
	for _, row := range rows {
		ofPi, ofRust := row.PID == p.PID, row.PID == r.PID
		if row.PPID != os.Getpid() && row.PPID != p.PID && row.PID != os.Getpid() {
			continue
		}
		if pi.OwnsProcess(row) != ofPi || rust.OwnsProcess(row) != ofRust {
			t.Errorf("process %d %s: owned %v, %v; want %v, %v", row.PID, row.Comm, pi.OwnsProcess(row), rust.OwnsProcess(row), ofPi, ofRust)
		}
	}
	stop()
	if w.store(agentname.Pi).OwnsProcess(p) {
		t.Error("a process that has ended is owned")
	}
}

// What is about to become a tool is none of Pi's.
func TestForkIsNotOwned(t *testing.T) {
	w := newFixture(t)
	p, _ := w.start(agentname.Pi, w.cwd(), "ROLLCALL_TEST_CHILD=same")
	rows, err := w.table.List(t.Context())
	w.check(err)
	i := slices.IndexFunc(rows, func(row proc.Process) bool { return row.PPID == p.PID && row.Comm == "pi" })
	if i < 0 {
		t.Fatal("no child")
	}
	child := rows[i]
	for age, want := range map[time.Duration]bool{forkTime / 2: false, forkTime: true} {
		w.now = child.Started.Add(age)
		a := w.store(agentname.Pi)
		if !a.OwnsProcess(p) || a.OwnsProcess(child) != want {
			t.Errorf("after %v: parent %v, child %v", age, a.OwnsProcess(p), a.OwnsProcess(child))
		}
	}
}

// The folder of a process that is seen is watched, before it has a session.
func TestFolderOfNewProcessIsWatched(t *testing.T) {
	w := newFixture(t)
	old := newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "old").answer(2*second, "stop")
	dir := filepath.Dir(w.put(old))
	a := w.store(agentname.Pi)
	now := adapters.Query{Since: time.Now()}
	if got, _, err := ask(t, a, now); err != nil || len(got) != 0 || slices.Contains(a.WatchPaths(), dir) {
		t.Errorf("%v, %v, %v", got, err, a.WatchPaths())
	}
	p, stop := w.start(agentname.Pi, w.cwd())
	if got, _, err := ask(t, a, now); err != nil || len(got) != 1 || !slices.Contains(a.WatchPaths(), dir) {
		t.Errorf("%v, %v, %v; want %s", got, err, a.WatchPaths(), dir)
	}
	w.put(newScript(idC, w.cwd(), p.Started.Add(second)).begin().sys(second).prompt(2*second, "x"))
	got, _, err := ask(t, a, now)
	if err != nil || got[idC].Status != adapters.Working || got[idC].Process != p.Identity {
		t.Errorf("%v, %v", got, err)
	}
	stop()
	got, _, err = ask(t, a, adapters.Query{IDs: []string{idC}})
	if err != nil || got[idC].Status != adapters.Stopped || got[idC].Outcome != adapters.Died {
		t.Errorf("%v, %v", got, err)
	}
}

// The sessions of a home elsewhere stay listed for a day after its last process.
func TestHomeElsewhereIsKept(t *testing.T) {
	w := newFixture(t)
	agent, named := filepath.Join(w.home, "agent"), filepath.Join(w.home, "named")
	put := func(dir, id string, at time.Time) {
		w.check(os.MkdirAll(dir, 0o755))
		s := newScript(id, w.cwd(), at).begin().sys(second).prompt(2*second, "x").answer(3*second, "stop")
		w.check(os.WriteFile(filepath.Join(dir, filepath.Base(w.path(s))), []byte(s.text()), 0o600))
	}
	w.check(os.MkdirAll(filepath.Join(agent, "sessions"), 0o755))
	w.check(os.WriteFile(filepath.Join(agent, "settings.json"), []byte(`{"sessionDir": "`+named+`"}`), 0o600))
	p, stop := w.start(agentname.Pi, w.cwd(), "PI_CODING_AGENT_DIR="+agent)
	put(filepath.Join(agent, "sessions", folderName(w.cwd())), idA, p.Started.Add(-time.Hour))
	put(named, idC, p.Started.Add(time.Second))
	a := w.store(agentname.Pi)
	w.expect(a, map[string]string{idA: "stopped completed", idC: "idle completed"})
	if !slices.Contains(a.WatchPaths(), named) {
		t.Errorf("%v; want %s", a.WatchPaths(), named)
	}
	stop()
	w.expect(a, map[string]string{idA: "stopped completed", idC: "stopped completed"})
	w.now = time.Now().Add(23 * time.Hour)
	w.expect(a, map[string]string{idA: "stopped completed", idC: "stopped completed"})
	w.now = time.Now().Add(25 * time.Hour)
	w.expect(a, map[string]string{})
}
