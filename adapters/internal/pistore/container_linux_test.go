package pistore

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// contain has the next processes started in a mount namespace of their own, in
// which the folder target is mounted over.
func (w *fixture) contain(source, target string) {
	w.Helper()
	w.inside = []string{"unshare", "--mount", "--propagation", "private"}
	if os.Getuid() != 0 {
		w.inside = append(w.inside, "--map-root-user")
	}
	w.inside = append(w.inside, "sh", "-c", `mount --bind "$1" "$2" && cd "$PWD" && exec "$3"`, "sh", source, target)
	probe := exec.Command(w.inside[0], append(w.inside[1:], "true")...)
	if output, err := probe.CombinedOutput(); err != nil {
		must.Skip(w, fmt.Sprintf("no mount namespaces: %v: %s", err, output))
	}
}

// A container has a home of its own under the name of ours: its sessions are
// listed from there, and ours are left alone.
func TestContainerWithOwnHome(t *testing.T) {
	w := newFixture(t)
	inner := filepath.Join(t.TempDir(), "inner")
	w.check(os.MkdirAll(filepath.Join(inner, ".pi", "agent", "sessions"), 0o755))
	w.check(os.MkdirAll(filepath.Join(inner, "proj"), 0o755))
	p, _ := w.start(agentname.Pi, w.cwd())
	w.put(newScript(idA, w.cwd(), p.Started.Add(second)).begin().sys(second).prompt(2*second, "ours"))
	ended := w.put(newScript("ended", w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "ended").answer(2*second, "stop"))
	w.contain(inner, w.home)
	q, stop := w.start(agentname.Pi, w.cwd())
	w.inside = nil
	a := w.store(agentname.Pi)
	got := w.expect(a, map[string]string{idA: "working", "ended": "stopped completed", processID(q): "idle"})
	if x := got[processID(q)]; x.Container == "" || x.CWD != w.cwd() {
		t.Errorf("%+v", x)
	}
	s := newScript(idC, w.cwd(), q.Started.Add(second)).begin().sys(second).prompt(2*second, "theirs")
	w.order(q, order{Path: filepath.Dir(filepath.Dir(ended)) + "/flat.jsonl", Text: s.text()})
	got = w.expect(a, map[string]string{idA: "working", "ended": "stopped completed", idC: "working"})
	if x := got[idC]; x.Process != q.Identity || x.Container == "" || x.CWD != w.cwd() || !strings.Contains(x.Evidence, "in a container (mount namespace 4") {
		t.Errorf("%+v", x)
	}
	if x := got[idA]; x.Process != p.Identity || x.Container != "" {
		t.Errorf("%+v", x)
	}
	if m, err := a.Peek(t.Context(), got[idC], 5); err != nil || len(m) != 1 || m[0].Text != "theirs" {
		t.Errorf("%+v, %v", m, err)
	}
	stop()
	w.expect(a, map[string]string{idA: "working", "ended": "stopped completed"})
}

// A container that has our home works with our sessions.
func TestContainerWithOurHome(t *testing.T) {
	w := newFixture(t)
	w.contain(t.TempDir(), "/mnt")
	p, _ := w.start(agentname.Pi, w.cwd())
	w.put(newScript(idA, w.cwd(), p.Started.Add(second)).begin().sys(second).prompt(2*second, "ours"))
	got := w.expect(w.store(agentname.Pi), map[string]string{idA: "working"})
	if x := got[idA]; x.Process != p.Identity || x.Container != "" {
		t.Errorf("%+v", x)
	}
}

// A container whose home is not there changes nothing of ours; doctor counts it.
func TestContainerWithoutHome(t *testing.T) {
	w := newFixture(t)
	w.put(newScript(idA, w.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "ended").answer(2*second, "stop"))
	w.contain(t.TempDir(), "/mnt")
	w.start(agentname.Pi, "/mnt", "HOME=/nowhere/at/all")
	got, roll, err := ask(t, w.store(agentname.Pi), adapters.Query{})
	if err != nil || len(got) != 1 || got[idA].Status != adapters.Stopped {
		t.Errorf("%v, %v", got, err)
	}
	if len(roll.Skipped) > 0 {
		t.Errorf("skipped: %v", roll.Skipped)
	}
}
