package cli

import (
	"strings"
	"testing"

	"rollcall/app/owned/marks"
)

// TestRename: a session has the user's name in the list, the status and the documents, until it is removed. The agent's title stays.
func TestRename(t *testing.T) {
	d := deps(claude(full()))
	state := t.TempDir()
	d.Marks = func() (*marks.Marks, error) { return marks.In(state), nil }
	id := full().ID
	for _, wrong := range [][]string{{"rename"}, {"rename", id}, {"rename", id, " "}, {"rename", id, "a", "b"}, {"rename", "--clear"}} {
		if r := run(t, d, wrong...); r.code != Usage {
			t.Errorf("%q: exit code %d, %s", wrong, r.code, r.err)
		}
	}
	if r := run(t, d, "rename", "no-such", "x"); r.code != NoSession {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	if r := run(t, d, "rename", id[:4], "Ship the parser"); r.code != Done || r.out != id+" is called “Ship the parser”\n" {
		t.Errorf("exit code %d, %q, %s", r.code, r.out, r.err)
	}
	for _, args := range [][]string{{"list", "-a"}, {"status", id}, {"list", "-a", "--json"}} {
		if r := run(t, d, args...); !strings.Contains(r.out, "Ship the parser") {
			t.Errorf("%q: %s", args, r.out)
		}
	}
	if r := run(t, d, "list", "-a", "--json"); !strings.Contains(r.out, `"name": "Ship the parser"`) && !strings.Contains(r.out, `"name":"Ship the parser"`) || !strings.Contains(r.out, full().Title) {
		t.Errorf("%s", r.out)
	}
	if r := run(t, d, "rename", id, "--clear"); r.code != Done || !strings.Contains(r.out, "no name of yours") {
		t.Errorf("exit code %d, %q, %s", r.code, r.out, r.err)
	}
	if r := run(t, d, "list", "-a"); strings.Contains(r.out, "Ship the parser") {
		t.Errorf("it keeps its name: %s", r.out)
	}
}
