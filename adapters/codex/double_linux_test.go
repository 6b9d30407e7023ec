package codex

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// The tests' Codex is a process of its own whose name is codex: a copy of this
// binary, run again. It holds rollouts open and locks threads as Codex does.
func TestMain(m *testing.M) {
	switch os.Getenv("CODEX_TEST_ROLE") {
	case "codex":
		if uid, err := strconv.Atoi(os.Getenv("CODEX_TEST_UID")); err == nil {
			if err := syscall.Setuid(uid); err != nil {
				panic(err)
			}
		}
		double()
		os.Exit(0)
	case "command":
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case "discover":
		discoverAsOther()
		os.Exit(0)
	}
	_ = flag.Set("test.parallel", "8") // parallel tests only wait; the flag exists
	os.Exit(m.Run())
}

// double obeys one command a line.
func double() {
	var open []*os.File // kept, so that they aren't closed
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		command, path, _ := strings.Cut(lines.Text(), " ")
		var err error
		var f *os.File
		switch command {
		case "open":
			f, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		case "read":
			f, err = os.Open(path)
		case "lock":
			f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
			if err == nil {
				err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
			}
		case "run": // a command of the thread named by path
			child := exec.Command("/proc/self/exe")
			child.Env = []string{"CODEX_TEST_ROLE=command", "CODEX_THREAD_ID=" + path, "GORACE=atexit_sleep_ms=0"}
			_, err = child.StdinPipe() // it ends with this process
			if err == nil {
				err = child.Start()
			}
			go child.Wait()
		}
		open = append(open, f) //nolint:staticcheck // kept from the collector
		fmt.Println("ok", err)
	}
}

// codexProcess is a running double.
type codexProcess struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// startCodex starts the double under a name of its own, with arguments.
func startCodex(t *testing.T, name string, env []string, args ...string) *codexProcess {
	t.Helper()
	return startCodexIn(t, t.TempDir(), env, append([]string{name}, args...)...)
}

// startCodexIn starts the double in a folder; the first argument is its name.
func startCodexIn(t *testing.T, folder string, env []string, args ...string) *codexProcess {
	t.Helper()
	binary := filepath.Join(t.TempDir(), args[0])
	self, err := os.ReadFile(os.Args[0])
	must.Do(t, err)
	must.Do(t, os.WriteFile(binary, self, 0o755))
	cmd := exec.Command(binary, args[1:]...)
	cmd.Env = append([]string{"CODEX_TEST_ROLE=codex", "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}, env...)
	cmd.Dir = folder
	return runDouble(t, cmd)
}

func runDouble(t *testing.T, cmd *exec.Cmd) *codexProcess {
	t.Helper()
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	cmd.Stderr = os.Stderr
	// What was recorded before is older than its start, and no record of it is as old: users are slower, Codex takes longer to its first turn, and a record
	// has its time in whole milliseconds.
	time.Sleep(2 * clockError)
	must.Do(t, cmd.Start())
	time.Sleep(2 * clockError)
	p := &codexProcess{t, cmd, in, bufio.NewScanner(out)}
	t.Cleanup(p.kill)
	return p
}

func (p *codexProcess) do(command, path string) *codexProcess {
	p.t.Helper()
	must.Get(fmt.Fprintln(p.in, command, path))(p.t)
	if !p.out.Scan() || p.out.Text() != "ok <nil>" {
		p.t.Fatalf("%s %s: %q", command, path, p.out.Text())
	}
	return p
}

func (p *codexProcess) kill() {
	p.in.Close()
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

func lockPath(t testing.TB, home, id string) string {
	t.Helper()
	dir := filepath.Join(home, ".codex", lockFolder)
	must.Do(t, os.MkdirAll(dir, 0o755))
	return filepath.Join(dir, id+".lock")
}

// look asks a fresh adapter on this machine's own process table, and returns the
// sessions below the home by id: other Codex processes may run here.
func look(t testing.TB, a *Adapter, home string, q adapters.Query) map[string]adapters.Session {
	t.Helper()
	roll, err := a.Discover(t.Context(), q)
	if err != nil {
		t.Log(err)
	}
	return below(home, roll)
}

func below(home string, roll adapters.Roll) map[string]adapters.Session {
	sessions := map[string]adapters.Session{}
	for _, s := range roll.Sessions {
		if len(s.Files) > 0 && strings.HasPrefix(s.Files[0], home+"/") {
			sessions[s.ID] = s
		}
	}
	return sessions
}

// atNow returns an adapter that sees the processes of this test alone, at a time shortly
// after the synthetic rollouts end.
func atNow(home string) *Adapter {
	root := os.Getpid()
	if os.Getenv("CODEX_TEST_ROLE") == "discover" { // for its parent, which has the processes
		root = os.Getppid()
	}
	return New(adapters.Config{Home: home, Env: func(string) string { return "" }, Table: adaptertest.NewOwnTable(root)})
}

func want(t *testing.T, s adapters.Session, status adapters.Status, outcome adapters.Outcome, pid int) {
	t.Helper()
	if s.Status != status || s.Outcome != outcome || s.Process.PID != pid {
		t.Errorf("%s %q, process %d (evidence %q); want %s %q, %d",
			s.Status, s.Outcome, s.Process.PID, s.Evidence, status, outcome, pid)
	}
}

// discoverAsOther prints what a user without rights is told.
func discoverAsOther() {
	roll, err := atNow(os.Args[1]).Discover(context.Background(), adapters.Query{})
	type answer struct {
		Sessions []adapters.Session
		Problem  string
	}
	a := answer{Sessions: roll.Sessions}
	if err != nil {
		a.Problem = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(a)
}

// needRoot skips a test that takes the rights of root.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	must.Skip(t, "only root can act as another user")
}
