package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/machine"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// withMachine returns the dependencies with a machine whose Rollcall is a script.
func withMachine(t *testing.T, d Deps, name, script string) Deps {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollcall")
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700))
	kept := machine.KeptIn(store.In(filepath.Join(t.TempDir(), "machines")))
	d.Machines = func() (*machine.Machines, *machine.Kept, error) {
		return machine.New([]settings.Machine{{Name: name, Exec: []string{path}}}, nil), kept, nil
	}
	return d
}

// TestStreamIsRead: what watch --json --snapshot prints of a session is what another machine's list shows of it.
func TestStreamIsRead(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	want := full()
	want.Status = adapters.Waiting
	want.Remote = ""
	want.Container = ""
	var stream strings.Builder
	for e := range watchStream(t, deps(claude(want))) {
		text := must.Get(json.Marshal(e))(t)
		stream.WriteString(string(text) + "\n")
		if e.Event == streamRoll {
			break
		}
	}
	file := filepath.Join(t.TempDir(), "stream")
	must.Do(t, os.WriteFile(file, []byte(stream.String()), 0o600))
	d := withMachine(t, deps(claude()), "devbox", "cat '"+file+"'; exec sleep 60")
	d.Limit = 30 * time.Second
	r := run(t, d, "list", "--json")
	var got, plain document
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || len(got.Sessions) != 1 {
		t.Fatalf("%v: %+v", err, r)
	}
	if err := json.Unmarshal([]byte(run(t, deps(claude(want)), "list", "--json").out), &plain); err != nil || len(plain.Sessions) != 1 {
		t.Fatal(err)
	}
	here, there := plain.Sessions[0], got.Sessions[0]
	here.ID = "devbox:" + here.ID
	here.Machine = "devbox"
	here.Remote = "devbox"
	here.PID = 0
	if here.Parent != "" {
		here.Parent = "devbox:" + here.Parent
	}
	for _, s := range []*machine.SessionJSON{&here, &there} { // texts are cleaned on the way
		s.Tokens = nil // a stream has them only where they cost nothing
		s.FirstPrompt = ""
		s.LastPrompt = ""
		s.Title = ""
		s.Evidence = ""
	}
	a, _ := json.Marshal(here)
	b, _ := json.Marshal(there)
	if string(a) != string(b) {
		t.Errorf("here\n%s\nthere\n%s", a, b)
	}
	if len(got.Machines) != 1 || got.Machines[0].State != "ok" {
		t.Errorf("%+v", got.Machines)
	}
}

// TestFolderInUseThere: the window knows by the exit code that a launch on another machine was refused because of its folder.
func TestFolderInUseThere(t *testing.T) {
	if Locked != app.FolderInUse {
		t.Errorf("exit code %d, and the window expects %d", Locked, app.FolderInUse)
	}
}

// TestMachineColumn: the column is there only where a session has a machine.
func TestMachineColumn(t *testing.T) {
	if r := run(t, deps(claude(simple("a", agentname.ClaudeCode, adapters.Idle, time.Minute))), "list"); strings.Contains(r.out, "MACHINE") {
		t.Error(r.out)
	}
}

// A machine that was not asked, or does not answer, is said, and the exit code is not that of a whole answer.
func TestMachineIsMissing(t *testing.T) {
	claude := claude(simple("a", agentname.ClaudeCode, adapters.Idle, time.Minute))
	d := withMachine(t, deps(claude), "devbox", "exec sleep 60")
	d.Limit = 300 * time.Millisecond
	for _, tt := range []struct {
		args string
		code int
		errs string
	}{
		{"list", Incomplete, "devbox: no complete answer"},
		{"list --json", Incomplete, "devbox: no complete answer"},
		{"list -H devbox", Incomplete, "devbox: no complete answer"},
		{"list --here", Done, ""},
		{"usage", Done, "devbox was not asked"},
		{"usage --csv", Done, "devbox was not asked"},
		{"usage --limits", Done, "devbox was not asked"},
		{"search text", Incomplete, "devbox was not asked"}, // the agent of this test can't be searched
	} {
		if r := run(t, d, strings.Fields(tt.args)...); r.code != tt.code || !strings.Contains(r.err, tt.errs) || tt.errs == "" && r.err != "" {
			t.Errorf("%s: %+v, want %d with %q", tt.args, r, tt.code, tt.errs)
		}
	}
	for _, args := range []string{"usage --json", "usage --limits --json", "search text --json"} {
		if r := run(t, d, strings.Fields(args)...); !strings.Contains(r.out, `"not_asked":["devbox"]`) || strings.Contains(r.err, "was not asked") {
			t.Errorf("%s: %+v", args, r)
		}
	}
}
