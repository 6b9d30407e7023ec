package agentproc

import (
	"slices"
	"testing"

	"rollcall/proc"
)

func TestScript(t *testing.T) {
	for _, c := range []struct {
		line   []string
		script string
		args   []string
	}{
		{[]string{"node", "/opt/x/cli.js", "-p"}, "/opt/x/cli.js", []string{"-p"}},
		{[]string{"node", "--no-warnings", "cli.js"}, "cli.js", nil},
		{[]string{"bun", "run", "cli.ts", "a"}, "cli.ts", []string{"a"}},
		{[]string{"node"}, "", nil},
		{nil, "", nil},
	} {
		if script, args := Script(c.line); script != c.script || !slices.Equal(args, c.args) {
			t.Errorf("%q: %q, %q", c.line, script, args)
		}
	}
}

func TestInner(t *testing.T) {
	row := func(pid, ppid int, comm string) proc.Process {
		return proc.Process{Identity: proc.Identity{PID: pid, Start: 1}, PPID: ppid, Comm: comm}
	}
	rows := []proc.Process{row(1, 0, "init"), row(10, 1, "node"), row(11, 10, "node"), row(12, 11, "MainThread"), row(13, 12, "agent"),
		row(20, 1, "node"), row(21, 20, "sh"), row(22, 21, "agent"), row(30, 1, "node"), row(31, 30, "agent")}
	isAgent := func(p proc.Process) bool { return p.Comm == "agent" }
	for _, c := range []struct{ outer, inner int }{{10, 13}, {11, 13}, {20, 0}, {30, 31}, {1, 0}} {
		outer := rows[slices.IndexFunc(rows, func(p proc.Process) bool { return p.PID == c.outer })]
		if got, ok := Inner(rows, outer, isAgent); got.PID != c.inner || ok != (c.inner != 0) {
			t.Errorf("behind %d is %d, want %d", c.outer, got.PID, c.inner)
		}
	}
}
