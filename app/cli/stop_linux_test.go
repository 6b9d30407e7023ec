package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// running starts a process that is the session's own.
func running(t *testing.T, s adapters.Session, program string, args ...string) adapters.Session {
	t.Helper()
	cmd := exec.Command(program, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait() }()
	p, err := proc.OpenAt("/proc", "/etc").Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(p.Identity) })
	s.Process, s.Remote, s.Parent = p.Identity, "", ""
	return s
}

func end(id proc.Identity) {
	if h, err := proc.OpenAt("/proc", "/etc").Hold(id); err == nil {
		_ = h.Send(proc.Kill)
		h.Close()
	}
}

func alive(s adapters.Session) bool { return proc.OpenAt("/proc", "/etc").Alive(s.Process) }

// withTable is deps with the processes of this machine.
func withTable(list ...adapters.Adapter) Deps {
	d := deps(list...)
	d.Open = func() ([]adapters.Adapter, proc.Lister) { return list, proc.OpenAt("/proc", "/etc") }
	d.Limit = 5 * time.Second
	return d
}

func TestStopOne(t *testing.T) {
	s := running(t, simple("one", adapters.ClaudeCode, adapters.Working, time.Second), "sh", "-c", "sleep 60; true")
	d := withTable(claude(s))
	var tree string
	for range 100 { // until the shell has started its child
		if tree = run(t, d, "stop", "on", "--dry-run").out; strings.Contains(tree, "sleep") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, part := range []string{
		"Claude Code one  ~/one  working\n", fmt.Sprintf("  %d sh\n    ", s.Process.PID), " sleep\n", "  terminate (5s), then kill (2s)\n",
	} {
		if !strings.Contains(tree, part) {
			t.Errorf("no %q in\n%s", part, tree)
		}
	}
	if !alive(s) {
		t.Fatal("a dry run stopped it")
	}
	r := run(t, d, "stop", "one")
	if r.code != Done || !strings.Contains(r.out, "  terminate, 5s to end…\n") || !strings.Contains(r.out, "  ended what it left: ") ||
		!strings.Contains(r.out, "stopped by terminate after ") {
		t.Errorf("%+v", r)
	}
	if alive(s) {
		t.Error("it runs on")
	}
	if r := run(t, d, "stop", "one"); r.code != Failure || !strings.Contains(r.err, "one: not running") {
		t.Errorf("again: %+v", r)
	}
	if r := run(t, d, "stop", "two"); r.code != NoSession {
		t.Errorf("another: %+v", r)
	}
	if r := run(t, d, "stop"); r.code != Usage || !strings.Contains(r.err, "stop takes one session id") {
		t.Errorf("none: %+v", r)
	}
}

// gateway is an agent that stops sessions itself.
type gateway struct {
	*agent
	err error
}

func (g *gateway) Stop(context.Context, adapters.Session) error { return g.err }

func TestStopThroughGateway(t *testing.T) {
	s := simple("far", adapters.OpenClaw, adapters.Working, time.Second)
	s.Remote = "office"
	g := &gateway{agent: &agent{name: adapters.OpenClaw, roll: adapters.Roll{Sessions: []adapters.Session{s}}}}
	d := withTable(g)
	if r := run(t, d, "stop", "far"); r.code != Done || !strings.Contains(r.out, "  asked of office\noffice stopped it after ") {
		t.Errorf("%+v", r)
	}
	g.err = errors.New("missing scope operator.write: \x1b[31mgive it")
	if r := run(t, d, "stop", "far"); r.code != Failure || !strings.Contains(r.err, "far: missing scope operator.write: ") || strings.Contains(r.err, "\x1b") {
		t.Errorf("refused: %+v", r)
	}
}

func TestStopIdle(t *testing.T) {
	idle := running(t, simple("idle", adapters.ClaudeCode, adapters.Idle, time.Second), "sleep", "60")
	busy := running(t, simple("busy", adapters.ClaudeCode, adapters.Working, time.Second), "sleep", "60")
	host := running(t, simple("host", adapters.Codex, adapters.Idle, time.Second), "sleep", "60")
	host.Shared = true
	d := withTable(claude(idle, busy), codex(host))
	for _, c := range []struct {
		name string
		in   string
		args []string
		code int
		says string
	}{
		{"nobody to ask", "", []string{"stop", "--idle"}, Usage, "give --yes"},
		{"no", "n\n", []string{"stop", "--idle"}, Failure, "Stop 1 idle session? [y/N] "},
		{"end of input", "\x00", []string{"stop", "--idle"}, Failure, "nothing was done"},
		{"dry run", "", []string{"stop", "--idle", "-n"}, Done, ""},
		{"with an id", "", []string{"stop", "--idle", "idle"}, Usage, "takes no argument"},
	} {
		var s Streams
		if c.in != "" {
			s.In = strings.NewReader(c.in)
		}
		if r := runOn(t.Context(), t, s, d, c.args...); r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: %+v; want %d with %q", c.name, r, c.code, c.says)
		}
		if !alive(idle) {
			t.Fatalf("%s: it was stopped", c.name)
		}
	}
	r := runOn(t.Context(), t, Streams{In: strings.NewReader("y\n")}, d, "stop", "--idle")
	if r.code != Done || alive(idle) || !alive(busy) || !alive(host) {
		t.Errorf("yes: %+v; idle alive %t, busy %t, shared %t", r, alive(idle), alive(busy), alive(host))
	}
	if r := run(t, d, "stop", "--idle", "--yes"); r.code != Done || !strings.Contains(r.out, "no idle session") {
		t.Errorf("again: %+v", r)
	}
}
