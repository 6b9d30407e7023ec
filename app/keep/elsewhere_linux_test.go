package keep

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestWaitWithoutKeeper: the keeper is killed, and nobody but the waiting command is there to start another.
func TestWaitWithoutKeeper(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	waiting := make(chan string)
	go func() {
		code, said := w.run("launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--wait")
		waiting <- fmt.Sprintf("%d %s", code, said)
	}()
	w.until("launch", func() bool { return w.read("/tmp/started") != "" && w.status().Launches == 1 })
	w.kill(w.keepers()[0].PID)
	w.write("/tmp/end", "0")
	if said := <-waiting; !strings.HasPrefix(said, "12 ") {
		t.Error(said)
	}
}

// inside runs the program as on a machine with another name, with the same process table unless space is set.
func (w *world) inside(space bool, args ...string) {
	w.t.Helper()
	flags := uintptr(syscall.CLONE_NEWUTS)
	script := "hostname other && exec \"$@\""
	if space {
		flags |= syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
		// A shell stays, so that what the program started goes on.
		script = "hostname other && mount -t proc proc /proc && \"$@\" && sleep 3"
	}
	cmd := exec.Command("sh", append([]string{"-c", script, "sh", insideProgram}, args...)...)
	cmd.Env = w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
}

// TestOtherName: after a change of the host's name the keeper is the same. A shell that completes a word starts none.
func TestOtherName(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work")
	w.inside(false, "list")
	w.inside(false, "keep", "--start")
	if n := len(w.keepers()); n != 1 {
		t.Errorf("%d keepers", n)
	}
	w.kill(w.keepers()[0].PID)
	w.done("__complete", "list", "")
	if n := len(w.keepers()); n != 0 {
		t.Errorf("%d keepers", n)
	}
}

// TestLaunchOfAnotherMachine: a machine or container that shares the state folder does not end what it can't see.
func TestLaunchOfAnotherMachine(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--on-complete", "hostname >> /tmp/hook")
	w.inside(true, "list")
	w.inside(true, "keep", "--start")
	if r := w.records(); len(r) != 1 || !r[0].EndedAt.IsZero() || w.read("/tmp/hook") != "" {
		t.Errorf("records %+v, hook %q", r, w.read("/tmp/hook"))
	}
	w.write("/tmp/end", "0")
	w.until("hook", func() bool { return w.read("/tmp/hook") != "" })
	if name, err := os.Hostname(); err != nil || strings.TrimSpace(w.read("/tmp/hook")) != name {
		t.Errorf("hook on %q, want %q, %v", w.read("/tmp/hook"), name, err)
	}
}

// TestWebhookIsSetLater: the keeper runs already when the user sets a webhook, which the next watch has it use.
func TestWebhookIsSetLater(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.check(err)
	defer l.Close()
	w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work")
	first := w.status().PID
	w.check(os.MkdirAll("/tmp/home/.config/rollcall", 0o700))
	w.write("/tmp/home/.config/rollcall/config.toml", "[webhook]\nurl = \"http://"+l.Addr().String()+"/\"\n")
	cmd := exec.Command(insideProgram, "watch")
	cmd.Env = w.env
	_, err = cmd.StdoutPipe() // without a reader watch ends
	w.check(err)
	w.check(cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	w.until("another keeper that is attended", func() bool { s := w.status(); return s.Running && s.PID != first && s.Webhook })
	sent := make(chan error, 1)
	go func() { _, err := l.Accept(); sent <- err }()
	w.write("/tmp/end", "0")
	if err := <-sent; err != nil {
		t.Error(err)
	}
}
