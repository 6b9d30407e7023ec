package app

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// startShell starts a shell with a script in a process group of its own, which ends with the test.
func startShell(t *testing.T, script string) proc.Identity {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	p := must.Get(proc.Open().Find(cmd.Process.Pid))(t)
	return p.Identity
}

// TestLoads: what a session uses is that of its whole tree, without another session in it, and its share is that between two readings. The kernel's own count
// of the shell's and its children's times says how much that was.
func TestLoads(t *testing.T) {
	busy := startShell(t, "while :; do :; done & sleep 1000; :")
	self := proc.Self()
	live := func(id string, p proc.Identity, parent string) Session {
		return Session{Session: adapters.Session{ID: id, Parent: parent, State: adapters.State{Status: adapters.Working}, Owner: adapters.Owner{Process: p}}}
	}
	sessions := []Session{live("outer", self, ""), live("inner", busy, ""), live("child", busy, "inner"), live("twin", self, "")}
	sessions = append(sessions, Session{Session: adapters.Session{ID: "over", State: adapters.State{Status: adapters.Stopped}}})
	m := LoadMeter{Table: proc.Open()}
	m.SetLoads(t.Context(), sessions)
	if l := sessions[0].Load; l == nil || l.Processes != 1 || !l.Shared || l.HasShare || l.Memory < 1<<20 {
		t.Errorf("this process alone, with two sessions: %+v", l)
	}
	if sessions[2].Load != nil || sessions[4].Load != nil {
		t.Errorf("a sub-agent in the same process %+v, a stopped session %+v", sessions[2].Load, sessions[4].Load)
	}
	eventually.True(t, "the tree of the shell", func() bool {
		m.SetLoads(t.Context(), sessions)
		return sessions[1].Load != nil && sessions[1].Load.Processes >= 3
	})
	began := time.Now()
	before := sessions[1].Load.Processor
	eventually.True(t, "processor time of a child", func() bool {
		n := LoadMeter{Table: m.Table}
		n.SetLoads(t.Context(), sessions)
		return sessions[1].Load.Processor-before > 100*time.Millisecond
	})
	m.SetLoads(t.Context(), sessions)
	took := time.Since(began)
	l := sessions[1].Load
	if want := (l.Processor - before).Seconds() / took.Seconds(); !l.HasShare || l.Share < want/2 || l.Share > 1.5 || l.Shared {
		t.Errorf("share %+v, about %.2f of a processor was used", l, want)
	}
	if page := uint64(os.Getpagesize()); l.Memory%page != 0 {
		t.Errorf("memory %d is not in pages of %d", l.Memory, page)
	}
	if got := (&Load{Processes: 5, Memory: 340e6, Share: 0.12, HasShare: true}).Text(); got != "12 % of a processor and 340 MB in 5 processes" {
		t.Error(got)
	}
}
