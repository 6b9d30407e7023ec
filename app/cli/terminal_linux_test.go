package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"rollcall/app/present"
	"rollcall/internal/adaptertest"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// inTerminal runs the program in a terminal of its own, of so many columns, and returns what it showed.
func inTerminal(t *testing.T, columns int, env []string, args ...string) string {
	t.Helper()
	control := must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
	defer control.Close()
	fd := int(control.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: uint16(columns)})
	}
	must.Do(t, err)
	terminal := must.Get(os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Env = slices.Concat(env, []string{"NO_COLOR=1"})
	cmd.Stdin = terminal
	cmd.Stdout = terminal
	cmd.Stderr = terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.Do(t, cmd.Start())
	terminal.Close()
	var shown bytes.Buffer
	if _, err := io.Copy(&shown, control); err != nil && !errors.Is(err, syscall.EIO) { // EIO: the program has closed it
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, shown.String())
	}
	return strings.ReplaceAll(shown.String(), "\r\n", "\n")
}

// TestListInTerminals: the table of a real program fits real terminals, and uses their width.
func TestListInTerminals(t *testing.T) {
	program(t)
	rec := adaptertest.Replay(t, "../../adapters/claudecode/testdata/recordings/claude-2.1.329-permission")
	for columns, want := range map[int]string{
		40:  "STATUS PROJECT ID",
		80:  "STATUS PROJECT AGENT MODEL AGE ID TOPIC",
		200: "STATUS PROJECT AGENT MODEL AGE ID TOPIC",
	} {
		shown := inTerminal(t, columns, adaptertest.Env(rec), "list", "--agent", string(agentname.ClaudeCode))
		lines := strings.Split(strings.TrimSpace(shown), "\n")
		if got := strings.Join(strings.Fields(lines[0]), " "); got != want || len(lines) < 2 {
			t.Errorf("%d columns: %q, want %q\n%s", columns, got, want, shown)
		}
		for _, line := range lines {
			if w := present.Width(line); w > columns {
				t.Errorf("%d cells in a terminal of %d: %q", w, columns, line)
			}
		}
	}
}
