package app

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// startIn starts this test binary in namespaces of its own and returns its process.
func startIn(t *testing.T, namespaces uintptr) proc.Process {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "ROLLCALL_TEST_ROLE=sleep", "GORACE=atexit_sleep_ms=0")
	must.Do(t, inUserNamespace(cmd))
	if namespaces == 0 {
		cmd.SysProcAttr = nil
	} else {
		cmd.SysProcAttr.Cloneflags |= namespaces
	}
	if _, err := cmd.StdinPipe(); err != nil { // it ends with its input
		t.Fatal(err)
	}
	if err := cmd.Start(); errors.Is(err, syscall.EPERM) {
		skipOrFail(t, "user namespaces are not permitted")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p := must.Get(proc.Open().Find(cmd.Process.Pid))(t)
	return p
}

// TestRowOfForeignProcess: the row of a session that waits in a container or sandbox says that it can only be answered there, once, and why.
// No other row says so.
func TestRowOfForeignProcess(t *testing.T) {
	const words = "; it runs in a container or sandbox"
	for name, c := range map[string]struct {
		namespaces uintptr
		status     adapters.Status
		want       bool
	}{
		"mount namespace, waiting": {syscall.CLONE_NEWNS, adapters.Waiting, true},
		"pid namespace, waiting":   {syscall.CLONE_NEWPID, adapters.Waiting, true},
		"mount namespace, working": {syscall.CLONE_NEWNS, adapters.Working, false},
		"none, waiting":            {0, adapters.Waiting, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := startIn(t, c.namespaces)
			row := changed(on("a", c.status, 0), func(s *adapters.Session) { s.Process = p.Identity })
			a := &agent{name: agentname.ClaudeCode}
			a.says(nil, row)
			core := New(Config{Adapters: []adapters.Adapter{a}, Table: proc.Open()})
			for range 2 {
				x := core.Refresh(t.Context()).Sessions()[0]
				if n := strings.Count(x.Evidence, words); x.Status != c.status || n > 1 || (n == 1) != c.want ||
					c.want && (!strings.Contains(x.Evidence, "namespace") || !strings.HasSuffix(x.Evidence, "), so it can only be answered there")) {
					t.Errorf("%s: %s", x.Status, x.Evidence)
				}
			}
		})
	}
}
