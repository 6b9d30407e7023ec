package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/claudecode"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// running starts a process that is the session's own.
func running(t *testing.T, s adapters.Session, program string, args ...string) adapters.Session {
	t.Helper()
	return runningCommand(t, s, exec.Command(program, args...))
}

// runningCommand is running for a command that the caller made.
func runningCommand(t *testing.T, s adapters.Session, cmd *exec.Cmd) adapters.Session {
	t.Helper()
	must.Do(t, cmd.Start())
	go func() { _ = cmd.Wait() }()
	p := must.Get(proc.OpenAt("/proc", "/etc").Find(cmd.Process.Pid))(t)
	t.Cleanup(func() { end(p.Identity) })
	s.Process = p.Identity
	s.Remote = ""
	s.Parent = ""
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

// stoppedByTerm matches the end of a session that was stopped. How long that took depends on the machine.
var stoppedByTerm = regexp.MustCompile(`\nstopped (at once|after \d+s): it ended when asked to \(SIGTERM\)\n`)

func TestStopOne(t *testing.T) {
	s := running(t, simple("one", agentname.ClaudeCode, adapters.Working, time.Second), "sh", "-c", "sleep 60; true")
	d := withTable(claude(s))
	var tree string
	eventually.True(t, "the shell's child", func() bool {
		tree = run(t, d, "stop", "on", "--dry-run").out
		return strings.Contains(tree, " sleep: sleep 60\n")
	})
	for _, part := range []string{
		"Claude Code one  ~/one  working\n", fmt.Sprintf("  %d sh: sh -c \"sleep 60; true\"\n    ", s.Process.PID), " sleep: sleep 60\n", "  terminate (5s), then kill (2s)\n",
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
		!stoppedByTerm.MatchString(r.out) {
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
	s := simple("far", agentname.OpenClaw, adapters.Working, time.Second)
	s.Remote = "office"
	g := &gateway{agent: &agent{name: agentname.OpenClaw, roll: adapters.Roll{Sessions: []adapters.Session{s}}}}
	d := withTable(g)
	if r := run(t, d, "stop", "far"); r.code != Done || !strings.Contains(r.out, "  stopped through office\noffice stopped it at once\n") {
		t.Errorf("%+v", r)
	}
	g.err = errors.New("missing scope operator.write: \x1b[31mgive it")
	if r := run(t, d, "stop", "far"); r.code != Failure || !strings.Contains(r.err, "far: missing scope operator.write: ") || strings.Contains(r.err, "\x1b") {
		t.Errorf("refused: %+v", r)
	}
}

func TestStopIdle(t *testing.T) {
	idle := running(t, simple("idle", agentname.ClaudeCode, adapters.Idle, time.Second), "sleep", "60")
	busy := running(t, simple("busy", agentname.ClaudeCode, adapters.Working, time.Second), "sleep", "60")
	host := running(t, simple("host", agentname.Codex, adapters.Idle, time.Second), "sleep", "60")
	host.Shared = true
	d := withTable(claude(idle, busy), codex(host))
	for _, c := range []struct {
		name string
		in   string
		args []string
		code int
		says string
	}{
		{"no terminal", "", []string{"stop", "--idle"}, Usage, "use --yes"},
		{"no", "n\n", []string{"stop", "--idle"}, Failure, "Stop 1 idle session? [y/N] "},
		{"end of input", "\x00", []string{"stop", "--idle"}, Failure, "nothing was done"},
		{"dry run", "", []string{"stop", "--idle", "-n"}, Done, ""},
		{"with an id", "", []string{"stop", "--idle", "idle"}, Usage, "use --idle or an id"},
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
	hidden := d
	hidden.Settings = func() (settings.Settings, error) {
		return settings.Settings{LeftOutAgents: []adapters.Name{agentname.ClaudeCode}}, nil
	}
	if r := run(t, hidden, "stop", "--idle", "--yes"); r.code != Done || r.out != "no idle session that could be stopped\n" || !alive(idle) {
		t.Errorf("an agent that is left out: %+v", r)
	}
	r := runOn(t.Context(), t, Streams{In: strings.NewReader("y\n")}, d, "stop", "--idle")
	if r.code != Done || alive(idle) || !alive(busy) || !alive(host) {
		t.Errorf("yes: %+v; idle alive %t, busy %t, shared %t", r, alive(idle), alive(busy), alive(host))
	}
	if r := run(t, d, "stop", "--idle", "--yes"); r.code != Done || !strings.Contains(r.out, "no idle session") {
		t.Errorf("again: %+v", r)
	}
}

// A registry entry that anybody wrote, with the pid and start time of a process
// that is no agent, must not make stop signal that process.
func TestStopRefusesForgedEntry(t *testing.T) {
	victim := running(t, simple("x", agentname.ClaudeCode, adapters.Idle, time.Second), "sleep", "60")
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "sessions")
	must.Do(t, os.MkdirAll(dir, 0o700))
	const id = "0a0a0a0a-0000-4000-8000-000000000000"
	entry := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":%q,"startedAt":%d,"procStart":"%d","version":"2.1.329","kind":"interactive","entrypoint":"cli","status":"idle","updatedAt":%[4]d,"statusUpdatedAt":%[4]d}`,
		victim.Process.PID, id, home, time.Now().UnixMilli(), victim.Process.Start)
	must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", victim.Process.PID)), []byte(entry), 0o600))
	own := table(victim.Process.PID) // an adapter finds other homes through the processes of the machine
	a := claudecode.New(adapters.Config{Home: home, Env: func(string) string { return "" }, Table: own})
	d := withTable(a)
	d.Open = func() ([]adapters.Adapter, proc.Lister) { return []adapters.Adapter{a}, own }
	if r := run(t, d, "list", "--json"); !strings.Contains(r.out, id) {
		t.Fatalf("the forged entry is not listed, so this shows nothing: %+v", r)
	}
	for _, args := range [][]string{{"stop", id}, {"stop", "--idle", "--yes"}} {
		r := run(t, d, args...)
		if args[1] == id && r.code != Failure || !strings.Contains(r.err, `"sleep" and no process of claude-code`) {
			t.Errorf("%v: %+v", args, r)
		}
		if !alive(victim) {
			t.Fatalf("%v ended a process that is no agent's", args)
		}
	}
}

// A process of another user is never signalled, not even by root.
func TestStopRefusesOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to start a process of another user")
	}
	s := simple("other", agentname.ClaudeCode, adapters.Idle, time.Second)
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	s = runningCommand(t, s, cmd)
	if r := run(t, withTable(claude(s)), "stop", "other"); r.code != Failure || !strings.Contains(r.err, "belongs to user 65534") {
		t.Errorf("%+v", r)
	}
	if !alive(s) {
		t.Error("it was signalled")
	}
}
