package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"rollcall/internal/must"
)

func TestInnerPIDs(t *testing.T) {
	table := Open()
	self := must.Get(table.Find(os.Getpid()))(t)
	if pids, err := table.InnerPIDs(self.Identity); err != nil || len(pids) != 0 {
		t.Errorf("this process: %v, %v", pids, err)
	}
	reused := self.Identity
	reused.Start++
	if _, err := table.InnerPIDs(reused); !errors.Is(err, ErrGone) {
		t.Errorf("a process that is gone: %v", err)
	}
}

func TestInnerPIDsInNamespace(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if err := cmd.Start(); err != nil {
		must.Skip(t, fmt.Sprintf("no pid namespace: %v", err))
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	table := Open()
	p := must.Get(table.Find(cmd.Process.Pid))(t)
	if pids, err := table.InnerPIDs(p.Identity); err != nil || !slices.Equal(pids, []int{1}) {
		t.Errorf("the first process of a namespace: %v, %v", pids, err)
	}
}

func TestParseInnerPIDs(t *testing.T) {
	for status, want := range map[string][]int{
		"Name:\tx\nNSpid:\t812\nNSpgid:\t1\n":      nil,
		"Name:\tx\nNSpid:\t812\t21\t1\nNSpgid:\t1": {21, 1},
		"Name:\tx\n": nil,
	} {
		if pids, err := parseInnerPIDs([]byte(status)); err != nil || !slices.Equal(pids, want) {
			t.Errorf("%q: %v, %v, want %v", status, pids, err, want)
		}
	}
	if _, err := parseInnerPIDs([]byte("NSpid:\t1\tx\n")); err == nil {
		t.Error("no number: no error")
	}
}
