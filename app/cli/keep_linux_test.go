package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rollcall/proc"
)

// endKeeper ends the keeper that commands with this environment may have started, so that nothing is written to the
// test's folders any more.
func endKeeper(t *testing.T, env []string) {
	t.Helper()
	r := execute(t, env, "keep", "--status", "--json")
	var s keeperJSON
	if json.Unmarshal([]byte(r.out), &s) != nil || !s.Running {
		return
	}
	table := proc.OpenAt("/proc", "/etc")
	p, err := table.Find(s.PID)
	if err != nil {
		return
	}
	h, err := table.Hold(p.Identity)
	if err != nil {
		return
	}
	defer h.Close()
	_ = h.Send(proc.Terminate)
	for until := time.Now().Add(30 * time.Second); table.Alive(p.Identity); <-time.After(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the keeper, process %d, does not end", s.PID)
		}
	}
}

// TestKeepStatus: the status and doctor tell that no keeper runs, and create nothing.
func TestKeepStatus(t *testing.T) {
	env := empty(t)
	if r := execute(t, env, "keep", "--status"); r.code != Done || r.out != "not running, and nothing to keep\n" {
		t.Errorf("%+v", r)
	}
	var s keeperJSON
	if r := execute(t, env, "keep", "--status", "--json"); json.Unmarshal([]byte(r.out), &s) != nil || s.Running || s.Schema != schema {
		t.Errorf("%+v", r)
	}
	if r := execute(t, env, "doctor"); !strings.Contains(r.out, "+ keeper: not running, and nothing to keep\n") {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"keep", "--json"}, {"keep", "--status", "--start"}, {"keep", "x"}} {
		if r := execute(t, env, args...); r.code == Done {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
