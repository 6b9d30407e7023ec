package proc

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// TestOlderTerminal: a process in a terminal of its own began right after that was opened. With a clock that was set forward by an hour, the terminal
// is older.
func TestOlderTerminal(t *testing.T) {
	control := must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
	defer control.Close()
	fd := int(control.Fd())
	must.Do(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n := must.Get(unix.IoctlGetInt(fd, unix.TIOCGPTN))(t)
	terminal := must.Get(os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	cmd := exec.Command("sleep", "1000")
	cmd.Stdin = terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	must.Do(t, cmd.Start())
	terminal.Close()
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	table, later := openOwn(), openOwn()
	later.ownNamespace, later.booted = false, table.bootTime().Add(time.Hour)
	p := must.Get(table.Find(cmd.Process.Pid))(t)
	for of, want := range map[*Table]bool{table: false, later: true} {
		if older, err := of.OlderTerminal(p.Identity); err != nil || older != want {
			t.Errorf("older terminal: %v (%v), want %v", older, err, want)
		}
	}
}
