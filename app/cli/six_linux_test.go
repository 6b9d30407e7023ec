package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/machine"
	"rollcall/internal/agentname"
	"rollcall/internal/corpus"
	"rollcall/internal/must"
)

// TestOneHangsOneFails: all seven agents are there; OpenClaw's gateway accepts and
// never answers, and Codex's database is none. The other five are complete and
// fresh.
func TestOneHangsOneFails(t *testing.T) {
	program(t) // built before the clock runs
	dir := filepath.Join(t.TempDir(), "corpus")
	man, err := corpus.Write(dir, corpus.Options{Sessions: 120, Live: 40, Gateway: 10, Seed: 3, Now: time.Now(), Scale: 0.05})
	must.Do(t, err)
	gateway := must.Get(corpus.Serve(dir, man))(t)
	defer gateway.Close()
	home := filepath.Join(dir, "home")
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HOST_PROC=" + filepath.Join(dir, "proc"), "HOST_ETC=" + filepath.Join(dir, "etc")}
	list := func(args ...string) (document, result) {
		t.Helper()
		r := execute(t, env, append([]string{"list", "--json"}, args...)...)
		var d document
		if err := json.Unmarshal([]byte(r.out), &d); err != nil {
			t.Fatalf("%v: %+v", err, r)
		}
		return d, r
	}
	live := 0
	for _, s := range man.Truths(true) {
		if s.Status != adapters.Stopped {
			live++
		}
	}
	if d, r := list("--strict"); r.code != Done || len(d.Adapters) != len(adapters.Described()) || len(d.Sessions) != live || live < 40 {
		t.Fatalf("all well: %d adapters, %d sessions, %+v", len(d.Adapters), len(d.Sessions), r.err)
	}

	gateway.Hang()
	databases, err := filepath.Glob(filepath.Join(home, ".codex", "state_*.sqlite"))
	if err != nil || len(databases) == 0 {
		t.Fatalf("%v, %v", databases, err)
	}
	must.Do(t, os.WriteFile(databases[0], []byte(strings.Repeat("no database ", 1000)), 0o600))
	d, r := list()
	if r.code != Done {
		t.Errorf("exit code %d", r.code)
	}
	for _, a := range d.Adapters {
		broken := a.Name == agentname.OpenClaw || a.Name == agentname.Codex
		if (a.State == app.Failed) != broken || broken == (a.Error == "") {
			t.Errorf("%s: %s %q", a.Name, a.State, a.Error)
		}
	}
	for _, want := range man.Sessions {
		if want.Status == adapters.Stopped || want.Agent == agentname.Codex {
			continue
		}
		i := slices.IndexFunc(d.Sessions, func(s machine.SessionJSON) bool { return s.ID == want.ID })
		if i < 0 || d.Sessions[i].Status != want.Status || d.Sessions[i].Stale != nil {
			t.Errorf("%s %s is not listed as %s", want.Agent, want.ID, want.Status)
		}
	}
	if _, r := list("--strict"); r.code != Incomplete {
		t.Errorf("with --strict exit code %d", r.code)
	}
}
