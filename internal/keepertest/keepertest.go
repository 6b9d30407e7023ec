// Package keepertest ends the keepers that tests have caused.
package keepertest

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"rollcall/proc"
)

// limit is how long each step may take, on a busy machine.
const limit = 30 * time.Second

// End ends the keeper that programs with this environment may have started, so that nothing is written to the test's
// folders any more. program is Rollcall.
func End(t testing.TB, program string, env []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	status := exec.CommandContext(ctx, program, "keep", "--status", "--json")
	status.Env = env
	out, err := status.Output()
	if err != nil {
		t.Errorf("status of the keeper: %v", err)
		return
	}
	var s struct {
		Running bool
		PID     int
	}
	if err := json.Unmarshal(out, &s); err != nil {
		t.Errorf("status of the keeper: %v: %s", err, out)
		return
	}
	if s.Running {
		end(t, s.PID)
	}
}

func end(t testing.TB, pid int) {
	t.Helper()
	table := proc.OpenAt("/proc", "/etc")
	p, err := table.Find(pid)
	if err != nil {
		return // it has ended
	}
	h, err := table.Hold(p.Identity)
	if err != nil {
		return
	}
	defer h.Close()
	_ = h.Send(proc.Terminate)
	for until := time.Now().Add(limit); table.Alive(p.Identity); <-time.After(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Errorf("the keeper, process %d, does not end", pid)
			return
		}
	}
}
