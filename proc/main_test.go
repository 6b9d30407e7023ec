package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rollcall/internal/must"
)

// roleVariable makes the re-executed test binary play a part.
const roleVariable = "ROLLCALL_PROC_TEST_ROLE"

func TestMain(m *testing.M) {
	if role, ok := os.LookupEnv(roleVariable); ok {
		os.Exit(playRole(role))
	}
	goleak.VerifyTestMain(m)
}

// roles are the parts. A child says its first line when it is ready, and lives
// until its input ends, so that none outlives the test.
var roles = map[string]func() error{
	"wait": func() error { return ready("ready") },
}

func playRole(role string) int {
	play := roles[role]
	if play == nil {
		fmt.Fprintln(os.Stderr, "no role", role)
		return 2
	}
	if err := play(); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		return 1
	}
	return 0
}

// ready says the first line and waits for the end of the input.
func ready(line string) error {
	fmt.Println(line)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// child is a process that the test started.
type child struct {
	*exec.Cmd
	input io.WriteCloser
	lines *bufio.Reader
	said  string // its first line
	ended bool
}

// start starts a child and waits for its first line. At the end of the test it is
// killed and reaped.
func start(t testing.TB, role string, change func(*exec.Cmd)) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], "-test.run=^$")}
	c.Env = append(os.Environ(), roleVariable+"="+role)
	c.Stderr = os.Stderr
	if change != nil {
		change(c.Cmd)
	}
	c.input = must.Get(c.StdinPipe())(t)
	output := must.Get(c.StdoutPipe())(t)
	must.Do(t, c.Start())
	t.Cleanup(c.reap)
	c.lines = bufio.NewReader(output)
	c.said = c.line(t)
	return c
}

// line reads the next line that the child says.
func (c *child) line(t testing.TB) string {
	t.Helper()
	line, err := c.lines.ReadString('\n')
	if err != nil {
		t.Fatalf("child: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// kill ends the child and leaves it a zombie.
func (c *child) kill(t testing.TB) {
	t.Helper()
	must.Do(t, c.Process.Kill())
}

// reap ends the child and its zombie.
func (c *child) reap() {
	if c.ended {
		return
	}
	c.ended = true
	_ = c.Process.Kill()
	_ = c.input.Close()
	_ = c.Wait()
}

// identity is the child's, as the table tells it.
func (c *child) identity(t testing.TB, table *Table) Identity {
	t.Helper()
	p := must.Get(table.Find(c.Process.Pid))(t)
	return p.Identity
}
