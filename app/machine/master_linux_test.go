package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/app"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/sshtest"
)

// TestSharedConnection: with ControlMaster auto in the user's configuration, Rollcall opens no shared connection, uses the one that the user has
// open, leaves it open at its end, and connects by itself once it is closed.
func TestSharedConnection(t *testing.T) {
	if !inside(t) {
		return
	}
	c := sshtest.NewClient(t, t.Setenv)
	socket := filepath.Join(t.TempDir(), "s")
	c.Extra = "ControlMaster auto\nControlPath " + socket + "\nControlPersist 60\n"
	b := newBox(t, c, "direct", "/tmp/bin")
	w := sshtest.NewWire(t, b.Port)
	c.Add("devbox", w.Port, b.Key)
	work := b.claude.Start("/src/shop", "Fix the login")
	isListed := func(r app.MachineRoll) bool { return isOK(r) && rowOf(r, app.MachineID("devbox", work.ID)) != nil }
	ask := func() bool { return isListed(host("devbox").ask(t.Context(), 0, 30*time.Second)) } // on a busy machine an answer can come without all of it
	eventually.True(t, "the session", ask)
	if _, err := os.Lstat(socket); err == nil {
		t.Error("Rollcall became the master of a shared connection")
	}
	opened := w.Opened()

	master := exec.Command("ssh", "-N", "devbox")
	master.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	must.Do(t, master.Start())
	t.Cleanup(func() { _ = exec.Command("ssh", "-O", "exit", "devbox").Run() })
	go func() { _ = master.Wait() }() // it goes to the background
	isOpen := func() bool {
		out, _ := exec.Command("ssh", "-O", "check", "devbox").CombinedOutput()
		return strings.Contains(string(out), "Master running")
	}
	eventually.True(t, "a shared connection", isOpen)
	eventually.True(t, "the session by the shared connection", ask)
	if n := w.Opened() - opened; n != 1 {
		t.Errorf("%d connections, want the user's only", n)
	}
	if !isOpen() {
		t.Fatal("the user's shared connection was closed")
	}

	s := run(t, host("devbox"))
	s.await(t, "devbox", "ok with its session", isListed)
	must.Do(t, exec.Command("ssh", "-O", "exit", "devbox").Run())
	s.await(t, "devbox", "lost", func(r app.MachineRoll) bool { return r.State == app.Failed })
	s.await(t, "devbox", "ok again", isListed)
	if n := w.Opened() - opened; n < 2 {
		t.Errorf("%d connections", n)
	}
}
