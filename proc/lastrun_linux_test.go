package proc

import (
	"os/exec"
	"testing"
	"time"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// TestLastRun: a process that waits ran last when it began to wait, which it says itself; one that is busy runs now.
func TestLastRun(t *testing.T) {
	table := ownTable(t)
	self, err := table.LastRun(Self())
	if err != nil {
		t.Skip(err)
	}
	if ago := time.Since(self); ago > time.Second || ago < 0 {
		t.Errorf("this process ran %v ago", ago)
	}
	waits := exec.Command("sleep", "1000")
	must.Do(t, waits.Start())
	t.Cleanup(func() {
		_ = waits.Process.Kill()
		_ = waits.Wait()
	})
	p := must.Get(table.Find(waits.Process.Pid))(t)
	id := p.Identity
	var first time.Time
	eventually.True(t, "a process that waits", func() bool {
		at := must.Get(table.LastRun(id))(t)
		still := at.Sub(first).Abs() < 20*time.Millisecond
		first = at
		return still && time.Since(at) > 500*time.Millisecond
	})
	if _, err := table.LastRun(Identity{PID: id.PID, Start: id.Start + 1, Boot: id.Boot}); err == nil {
		t.Error("another process with its pid was read")
	}
}
