package machine

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
	"rollcall/internal/sshtest"
)

// listed is what the test reads of a document.
type listed struct {
	Sessions []struct {
		ID, Machine, Status string
	}
	Machines []struct {
		Name, State, Error string
	}
}

// TestCommandLine: list has the sessions of every machine, names the one that does not answer, and commands reach the machine by the id
// or by its name.
func TestCommandLine(t *testing.T) {
	if !inside(t) {
		return
	}
	c := sshtest.NewClient(t, t.Setenv)
	b := newBox(t, c, "devbox", "/tmp/bin")
	s := b.claude.Start("/src/shop", "Fix the login")
	c.Add("closed", sshtest.FreePort(t), "")
	config := "[[machine]]\nname = \"devbox\"\nssh = \"devbox\"\n[[machine]]\nname = \"old\"\nssh = \"closed\"\n"
	out, errs, code := rollcall(t, config, "list", "--json")
	var d listed
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != 3 {
		t.Fatalf("%v, code %d: %s", err, code, errs)
	}
	if len(d.Sessions) != 1 || d.Sessions[0].ID != "devbox:"+s.ID || d.Sessions[0].Machine != "devbox" || d.Sessions[0].Status != "working" {
		t.Errorf("%s", out)
	}
	if len(d.Machines) != 2 || d.Machines[0].State != "ok" || d.Machines[1].State != "failed" || !strings.Contains(errs, "rollcall: old: connection refused") {
		t.Errorf("%+v, %s", d.Machines, errs)
	}
	for _, tt := range []struct {
		args []string
		code int
		out  string // part of it
		errs string
	}{
		{[]string{"list"}, 3, "MACHINE", "old: connection refused"},
		{[]string{"list"}, 3, "devbox:" + s.ID, ""},
		{[]string{"list", "--strict"}, 3, "devbox", "old: connection refused"},
		{[]string{"list", "--here"}, 0, "", "no agent is installed"},
		{[]string{"list", "--machine", "devbox", "--status", "idle"}, 0, "", "no idle sessions of machine devbox"},
		{[]string{"list", "-H", "old"}, 3, "", "not known whether there are sessions: not everything of machine old could be read"},
		{[]string{"list", "-H", "nope"}, 2, "", `no machine "nope"; machines: devbox, old`},
		{[]string{"status", "devbox:" + s.ID[:12]}, 0, "Fix the login", ""},
		{[]string{"status", "-H", "devbox", s.ID, "--json"}, 0, `"status":"working"`, ""},
		{[]string{"peek", "devbox:" + s.ID}, 0, "Fix the login", ""},
		{[]string{"peek", "devbox:nope"}, 4, "", "no such session"},
		{[]string{"status", "old:x"}, 1, "", "rollcall: old: connection refused"},
		{[]string{"lock", "-H", "devbox", b.Home, "--reason", "it's $HOME mine"}, 0, "locked", ""},
		{[]string{"locks", "-H", "devbox"}, 0, "it's $HOME mine", ""},
		{[]string{"locks"}, 0, "no folder is locked", ""},
		{[]string{"unlock", "--machine=devbox", b.Home}, 0, "unlocked", ""},
		{[]string{"launch", "-H", "devbox", "claude-code", "-p", "x y\n'z'", "--dry-run"}, 1, "", "claude"},
	} {
		out, errs, code := rollcall(t, config, tt.args...)
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(errs, tt.errs) {
			t.Errorf("%q: exit code %d, want %d\n%s%s", tt.args, code, tt.code, out, errs)
		}
	}
	_, errs, _ = rollcall(t, config+"[[machine]]\nname = \"devbox\"\nssh = \"b\"\n", "list")
	if !strings.Contains(errs, `config.toml: line 7: machine "devbox" is ignored: another machine has this name (see line 1)`) {
		t.Error(errs)
	}
}

// TestAdd: add tests the connection, copies the program after asking, checks the copy, and keeps the machine; nothing is replaced by a copy
// that differs.
func TestAdd(t *testing.T) {
	if !inside(t) {
		return
	}
	c := sshtest.NewClient(t, t.Setenv)
	b := newBox(t, c, "empty", "/nowhere")
	s := b.claude.Start("/src/shop", "Fix the login")
	c.Add("closed", sshtest.FreePort(t), "")
	there := b.Path(".local", "bin", "rollcall")
	text := filepath.Join(t.TempDir(), "text")
	must.Do(t, os.WriteFile(text, []byte("#!/bin/sh\n"), 0o700))
	for _, tt := range []struct {
		args []string
		code int
		want string // part of the output or the messages
	}{
		{[]string{"list"}, 0, "no other machine; to add one"},
		{[]string{"add", "closed"}, 1, "closed: connection refused"},
		{[]string{"add", "-oProxyCommand=x"}, 2, ""},
		{[]string{"add", "--", "-oProxyCommand=x"}, 2, "ssh must be user@host"},
		{[]string{"add", "root@empty"}, 2, "not a terminal: use --yes"},
		{[]string{"add", "empty", "--yes", "--binary", text}, 1, "it is not a program for linux/"},
		{[]string{"test"}, 0, ""},
		{[]string{"add", "root@empty", "--yes"}, 0, "empty: Rollcall 1.2.3, 1 live session"},
		{[]string{"add", "root@empty", "--yes"}, 0, "empty: Rollcall 1.2.3"}, // again
		{[]string{"add", "closed", "--name", "empty"}, 1, "there is a machine empty already"},
		{[]string{"list"}, 0, "empty  ssh root@empty  (machine add)"},
		{[]string{"test", "empty"}, 0, "empty: Rollcall 1.2.3, 1 live session"},
		{[]string{"test", "nope"}, 2, "no machine \"nope\"; machines: empty"},
		{[]string{"add", "--update", "empty", "--yes"}, 0, "has an older or other Rollcall 1.2.3"},
	} {
		out, errs, code := rollcall(t, "", append([]string{"machine"}, tt.args...)...)
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Fatalf("%q: exit code %d, want %d and %q\n%s%s", tt.args, code, tt.code, tt.want, out, errs)
		}
	}
	if out, _, _ := rollcall(t, "", "list"); !strings.Contains(out, "empty:"+s.ID) {
		t.Error(out)
	}
	before := must.Get(os.ReadFile(there))(t)
	err := host("empty").Install(t.Context(), Binary{Path: text, Sum: strings.Repeat("0", 64)})
	if err == nil || !strings.Contains(err.Error(), "the copy differs from the file") {
		t.Error(err)
	}
	after, err := os.ReadFile(there)
	left, globErr := filepath.Glob(b.Path(".local", "bin", ".*"))
	if err != nil || globErr != nil || !bytes.Equal(before, after) || len(left) > 0 {
		t.Errorf("%v, %q", err, left)
	}
	must.Do(t, os.WriteFile(there, []byte("#!/bin/sh\necho 'rollcall: unknown flag: --snapshot' >&2; exit 2\n"), 0o700))
	for _, tt := range [][]string{
		{"test", "too old for this one: update it (rollcall machine add --update empty)"},
		{"add --update empty --yes", "empty: Rollcall 1.2.3"}, {"remove empty", "removed empty"}, {"remove empty", "no machine"}, {"list", "no other machine"},
	} {
		out, errs, _ := rollcall(t, "", append([]string{"machine"}, strings.Fields(tt[0])...)...)
		if !strings.Contains(out+errs, tt[1]) {
			t.Errorf("%s: %s%s", tt[0], out, errs)
		}
	}
}
