package proc

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"rollcall/internal/must"
)

func TestTerminalName(t *testing.T) {
	for number, want := range map[uint64]string{0: "", 34816: "/dev/pts/0", 34819: "/dev/pts/3", 137<<8 | 1: "/dev/pts/257", 1025: "/dev/tty1", 1088: "terminal 4:64"} {
		if got := terminalName(number); got != want {
			t.Errorf("%d is %q, want %q", number, got, want)
		}
	}
}

// TestTerminal: a process in a session of its own has no terminal, and only its own terminals are listed.
func TestTerminal(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	must.Do(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	table := OpenAt("/proc", "/etc")
	p := must.Get(table.Find(cmd.Process.Pid))(t)
	if terminal, err := table.Terminal(p.Identity); err != nil || terminal != "" {
		t.Errorf("it has %q, %v", terminal, err)
	}
	if list, err := table.OpenTerminals(p.Identity); err != nil || len(list) != 0 {
		t.Errorf("it has open %q, %v", list, err)
	}
	gone := p.Identity
	gone.Start++
	if _, err := table.Terminal(gone); err == nil {
		t.Error("a process that reused the pid has a terminal")
	}
	if f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil { // the tests run in a terminal
		defer f.Close()
		self, err := table.Terminal(Self())
		if err != nil || !strings.HasPrefix(self, "/dev/") {
			t.Errorf("this process has %q, %v", self, err)
		}
	}
}
