package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

func init() {
	roles["start and die"] = func() error {
		dir := os.Getenv("ROLLCALL_START_DIR")
		c, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "echo started; sleep 60"}, Dir: dir,
			Output: filepath.Join(dir, "out")})
		if err != nil {
			return err
		}
		fmt.Println(c.Identity.PID, c.Identity.Start)
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	}
}

func TestStart(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	must.Do(t, os.WriteFile(in, []byte("what to do; $(rm -rf x)\n"), 0o600))
	c, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", `read a; echo "$a|$0|$1|$PWD|$NAME|$HOME"; tty; exit 3`, "zero", "one two"},
		Dir: dir, Env: []string{"NAME=value"}, Stdin: in, Output: out})
	must.Do(t, err)
	must.Do(t, os.Remove(in))
	if code, err := c.Wait(); code != 3 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	said, err := os.ReadFile(out)
	want := "what to do; $(rm -rf x)|zero|one two|" + dir + "|value|\nnot a tty\n"
	if err != nil || string(said) != want {
		t.Errorf("it said %q, %v; want %q", said, err, want)
	}
	if info, _ := os.Stat(out); info.Mode().Perm() != 0o600 {
		t.Errorf("output is for others too: %v", info.Mode())
	}
}

// The child leads a session of its own, has no terminal, and lives on when its
// starter is killed.
func TestStartOutlivesItsStarter(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), roleVariable+"=start and die", "ROLLCALL_START_DIR="+dir)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	var id Identity
	if _, err := fmt.Fscan(bufio.NewReader(out), &id.PID, &id.Start); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the starter ended otherwise: %v", err)
	}
	table := ownTable(t)
	h := hold1(t, table, id)
	t.Cleanup(func() { _ = h.Send(Kill) })
	p, err := table.Find(id.PID)
	if err != nil || p.SID != p.PID || p.Start != id.Start {
		t.Errorf("row %+v, %v", p, err)
	}
	eventually.True(t, "what it says", func() bool {
		said, _ := os.ReadFile(filepath.Join(dir, "out"))
		return string(said) == "started\n"
	})
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]Command{
		"no program": {Path: filepath.Join(dir, "none")},
		"no folder":  {Path: "/bin/true", Dir: filepath.Join(dir, "none")},
		"no input":   {Path: "/bin/true", Stdin: filepath.Join(dir, "none")},
		"no place":   {Path: "/bin/true", Output: filepath.Join(dir, "none", "out")},
	} {
		if _, err := Start(c); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none") && name != "no folder" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStartEndedBySignal(t *testing.T) {
	c := must.Get(Start(Command{Path: "/bin/sh", Args: []string{"-c", "kill -9 $$"}}))(t)
	if code, err := c.Wait(); code != 137 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
}
