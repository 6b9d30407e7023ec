package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// marked is a process table with only the processes that have an entry in their environment.
type marked struct {
	*proc.Table
	entry string
}

// List implements proc.Lister.
func (m marked) List(ctx context.Context) ([]proc.Process, error) {
	list, err := m.Table.List(ctx)
	return slices.DeleteFunc(list, func(p proc.Process) bool {
		env, err := m.Env(p.Identity)
		return err != nil || !slices.Contains(env, m.entry)
	}), err
}

// leave starts a process that its parent leaves behind, as an agent does for a session, and returns it.
func leave(t *testing.T, table marked, session string, inherited ...*os.File) proc.Process {
	t.Helper()
	before := must.Get(table.List(t.Context()))(t)
	cmd := exec.Command("sh", "-c", "setsid sleep 60 </dev/null >/dev/null 2>&1 &")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), table.entry, "CLAUDE_CODE_SESSION_ID=" + session}
	cmd.ExtraFiles = inherited
	must.Do(t, cmd.Run())
	var left proc.Process
	eventually.True(t, "sleep", func() bool {
		list, err := table.List(t.Context())
		i := slices.IndexFunc(list, func(p proc.Process) bool { return p.Comm == "sleep" && !slices.Contains(before, p) })
		if err == nil && i >= 0 {
			left = list[i]
		}
		return !left.IsZero()
	})
	t.Cleanup(func() { end(left.Identity) })
	return left
}

func TestOrphans(t *testing.T) {
	table := marked{proc.OpenAt("/proc", "/etc"), "TEST=" + t.TempDir()}
	d := deps(claude(simple("over", agentname.ClaudeCode, adapters.Stopped, time.Minute), simple("live", agentname.ClaudeCode, adapters.Idle, time.Second)))
	list, _ := d.Open()
	d.Open = func() ([]adapters.Adapter, proc.Lister) { return list, table }
	if r := run(t, d, "orphans"); r.code != Done || !strings.Contains(r.out, "no agent left a process behind") {
		t.Errorf("none: %+v", r)
	}
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	file := must.Get(listener.(*net.TCPListener).File())(t)
	left := leave(t, table, "over", file)
	kept := leave(t, table, "live")
	must.Do(t, file.Close())
	must.Do(t, listener.Close())
	port := listener.Addr().(*net.TCPAddr).Port

	r := run(t, d, "orphans")
	if line := fmt.Sprintf("port %d) sleep 60\n", port); r.code != Done || !strings.HasPrefix(r.out, fmt.Sprintf("Claude Code over\n  %d sleep: (", left.PID)) ||
		!strings.HasSuffix(r.out, line) || !strings.Contains(r.out, "iB, ") {
		t.Errorf("%+v", r)
	}
	var doc orphansJSON
	r = run(t, d, "orphans", "--json")
	must.Do(t, json.Unmarshal([]byte(r.out), &doc))
	if o := doc.Orphans; len(o) != 1 || o[0].Session != "over" || o[0].Ended || len(o[0].Processes) != 1 || o[0].Processes[0].PID != left.PID ||
		o[0].Processes[0].Command != "sleep 60" || !slices.Equal(o[0].Processes[0].Ports, []uint16{uint16(port)}) {
		t.Errorf("%+v", doc)
	}
	for _, c := range []struct {
		args []string
		says string
	}{{[]string{"list", "--all"}, "left 1 process behind"}, {[]string{"list", "--all", "--json"}, `"left_behind":1`}, {[]string{"status", "over"}, "left behind    1 process (rollcall orphans)"}} {
		if r := run(t, d, c.args...); strings.Count(r.out, c.says) != 1 {
			t.Errorf("%v: no %q in %s", c.args, c.says, r.out)
		}
	}

	for _, c := range []struct {
		args []string
		in   string
		code int
		says string
	}{
		{[]string{"orphans", "--end"}, "", Usage, "use --yes"},
		{[]string{"orphans", "--end", "--json"}, "", Usage, "needs --yes"},
		{[]string{"orphans", "--end"}, "n\n", Failure, fmt.Sprintf("End %d sleep? [y/N]", left.PID)},
	} {
		var s Streams
		if c.in != "" {
			s.In = strings.NewReader(c.in)
		}
		if r := runOn(t.Context(), t, s, d, c.args...); r.code != c.code || !strings.Contains(r.err, c.says) || !table.Alive(left.Identity) {
			t.Errorf("%v %q: %+v", c.args, c.in, r)
		}
	}
	if r := runOn(t.Context(), t, Streams{In: strings.NewReader("y\n")}, d, "orphans", "--end"); r.code != Done || !strings.Contains(r.out, "  ended 1 process\n") {
		t.Errorf("yes: %+v", r)
	}
	if table.Alive(left.Identity) || !table.Alive(kept.Identity) {
		t.Error("not exactly the process of the session that is over was ended")
	}
	left = leave(t, table, "over")
	r = run(t, d, "orphans", "--end", "--yes", "--json")
	if !strings.Contains(r.out, `"ended":true`) || table.Alive(left.Identity) {
		t.Errorf("%+v", r)
	}
}

// TestOrphansNotAsked: an agent that can't be asked is no empty list.
func TestOrphansNotAsked(t *testing.T) {
	table := marked{proc.OpenAt("/proc", "/etc"), "TEST=" + t.TempDir()}
	leave(t, table, "over")
	d := deps(&agent{name: agentname.ClaudeCode, err: os.ErrPermission})
	list, _ := d.Open()
	d.Open = func() ([]adapters.Adapter, proc.Lister) { return list, table }
	if r := run(t, d, "orphans"); r.code != Incomplete || !strings.Contains(r.err, "Claude Code could not be asked") || r.out != "" {
		t.Errorf("%+v", r)
	}
	if r := run(t, d, "orphans", "--json"); r.code != Incomplete || !strings.Contains(r.out, `"not_asked":["claude-code"]`) {
		t.Errorf("%+v", r)
	}
}

// unreadable is a process table that can't be listed.
type unreadable struct{ *proc.Table }

// List implements proc.Lister.
func (unreadable) List(context.Context) ([]proc.Process, error) { return nil, os.ErrPermission }

// TestListSaysOrphansNotKnown: a question for orphans that fails does not look like no orphans.
func TestListSaysOrphansNotKnown(t *testing.T) {
	over := simple("over", agentname.ClaudeCode, adapters.Stopped, time.Minute)
	table := marked{proc.OpenAt("/proc", "/etc"), "TEST=" + t.TempDir()}
	leave(t, table, "over")
	partly := claude(over)
	partly.err = os.ErrPermission
	for name, c := range map[string]struct {
		agent *agent
		table proc.Lister
		says  string
	}{
		"no process table": {claude(over), unreadable{table.Table}, "what the sessions left behind is not known: permission denied"},
		"no whole answer":  {partly, table, "Claude Code could not be asked which of its sessions are over"},
		"known":            {claude(over), table, ""},
	} {
		d := deps(c.agent)
		list, _ := d.Open()
		d.Open = func() ([]adapters.Adapter, proc.Lister) { return list, c.table }
		for _, args := range [][]string{{"list", "--all"}, {"list", "--all", "--json"}, {"status", "over"}} {
			if r := run(t, d, args...); r.code != Done || strings.Count(r.err, c.says) < 1 || c.says == "" && r.err != "" {
				t.Errorf("%s, %v: %+v", name, args, r)
			}
		}
		if r := run(t, d, "list"); strings.Contains(r.err, "left behind") {
			t.Errorf("%s: without sessions that are over: %+v", name, r)
		}
	}
}
