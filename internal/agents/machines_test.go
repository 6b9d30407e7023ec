//go:build agents && linux

package agents

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
	"rollcall/internal/sshtest"
)

// remote is another machine: a home, processes and agents of its own behind a real ssh server.
type remote struct {
	*Sandbox
	*sshtest.Server
	name string
}

// newRemote makes a machine.
func newRemote(t *testing.T, c *sshtest.Client, name string) *remote {
	t.Helper()
	r := &remote{Sandbox: NewSandbox(t), name: name}
	env := append(slices.DeleteFunc(r.Env(), func(v string) bool { return strings.HasPrefix(v, "PATH=") }), "PATH="+filepath.Dir(headlessBinary)+":"+os.Getenv("PATH"))
	r.Server = c.Start(sshtest.Options{Env: env, Apart: true})
	return r
}

// open starts an agent there in a terminal, over ssh, and returns when it shows the text.
func (r *remote) open(ready string, argv ...string) *Terminal {
	r.t.Helper()
	t := &Terminal{s: r.Sandbox, name: "t"}
	words := append([]string{"-n", r.name, "tmux", "-S", filepath.Join(r.dir, "tmux"), "-f", "/dev/null", "new-session", "-d", "-s", t.name,
		"-x", "180", "-y", "50", "-c", r.Project, "env", "-u", "TMUX", "-u", "TMUX_PANE"}, r.Env()...)
	if out, err := r.Command("ssh", append(words, argv...)...).CombinedOutput(); err != nil {
		r.t.Fatalf("ssh: %v: %s", err, out)
	}
	t.Shows(ready)
	return t
}

// userHere is the user whose Rollcall shows the machines. What he starts sees only its own processes, as each machine does.
type userHere struct {
	*Sandbox
	t *testing.T
}

// apart returns a command in a pid namespace of its own.
func (u *userHere) apart(program string, args ...string) *exec.Cmd {
	return u.Command("unshare", append([]string{"--pid", "--fork", "--kill-child", "--mount-proc", program}, args...)...)
}

// configure writes the settings, with these machines.
func (u *userHere) configure(blocks ...string) {
	u.t.Helper()
	folder := filepath.Join(u.Home, ".config", "rollcall")
	text := eachEvent + strings.Join(blocks, "")
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "config.toml"), []byte(text), 0o600)); err != nil {
		u.t.Fatal(err)
	}
}

// list returns what rollcall list prints.
func (u *userHere) list() (out, errs string) {
	u.t.Helper()
	var o, e strings.Builder
	cmd := u.apart(headlessBinary, "list")
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil {
		u.t.Fatalf("list: %v: %s", err, e.String())
	}
	return o.String(), e.String()
}

// desktopProgram starts the tray or the window, and returns its own process: unshare passes on no signal.
func (u *userHere) desktopProgram(d *desktoptest.Desktop, args ...string) Process {
	u.t.Helper()
	log := must.Get(os.Create(filepath.Join(u.dir, "log"+strings.Join(args, ""))))(u.t)
	defer log.Close()
	cmd := u.apart(desktopBinary, args...)
	cmd.Env = slices.Concat(u.Env(), d.Env(), []string{"HOME=" + u.Home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME="})
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	go func() { _ = cmd.Wait() }() // ended by the test or with it
	u.t.Cleanup(func() {
		if text, err := os.ReadFile(log.Name()); err == nil && u.t.Failed() {
			u.t.Logf("rollcall %q:\n%.4000s", args, text)
		}
	})
	var p Process
	if err := poll(20*time.Second, func() bool {
		for _, one := range u.Processes() {
			if one.PPID == cmd.Process.Pid && one.Args[0] == desktopBinary {
				p = one
			}
		}
		return p.PID != 0
	}); err != nil {
		u.t.Fatalf("rollcall %q: %v", args, err)
	}
	return p
}

// connections returns to how many machines a process is connected.
func (u *userHere) connections(of Process) (n int) {
	for _, p := range u.Processes() {
		if p.PPID == of.PID && slices.ContainsFunc(p.Args, func(a string) bool { return strings.Contains(a, "--end-with-stdin") }) {
			n++
		}
	}
	return n
}

// old is a Rollcall that does not know the stream yet, and later one whose stream is of another schema.
const old, later = "#!/bin/sh\necho 'rollcall: unknown flag: --snapshot' >&2\nexit 2\n",
	"#!/bin/sh\necho '{\"schema\":2,\"event\":\"hello\",\"at\":\"2030-01-01T00:00:00Z\",\"hello\":{\"version\":\"9\",\"heartbeat\":15}}'\nexec cat\n"

// block is a [[machine]] of the settings.
func block(name, ssh, more string) string {
	return fmt.Sprintf("[[machine]]\nname = %q\nssh = %q\n%s", name, ssh, more)
}

// Three machines with real agents behind real ssh servers are in the tray, the
// window, list and the notifications, and each way to lose one has its words.
func TestMachines(t *testing.T) {
	nightly(t)
	desktop := newDesktop(t)
	sshtest.Require(t)
	c := sshtest.NewClient(t, t.Setenv)
	here := &userHere{NewSandbox(t), t}
	devbox := newRemote(t, c, "devbox")
	server := newRemote(t, c, "server")
	lab := newRemote(t, c, "lab")
	wire := sshtest.NewWire(t, server.Port)
	c.Add("devbox", devbox.Port, devbox.Key)
	c.Add("server", wire.Port, server.Key)
	c.Add("lab", lab.Port, lab.Key)
	claude := devbox.open("? for shortcuts", devbox.Argv(ClaudeNewest, "--permission-mode", "default")...)
	codex := server.open("? for shortcuts", server.Argv(CodexNewest)...)
	pi := lab.open("/128k", lab.Argv(PiNewest)...)
	claude.Prompt("look at it [[delay 1]]")
	codex.Prompt("build it [[delay 300]]")
	pi.Prompt("test it [[delay 300]]")

	changed := c.Start(sshtest.Options{Apart: true})
	c.Add("changed", changed.Port, changed.Key)
	changed.ChangeKey()
	oldPath, laterPath := filepath.Join(lab.dir, "old"), filepath.Join(lab.dir, "later")
	for path, text := range map[string]string{oldPath: old, laterPath: later} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o755))
	}
	three := block("devbox", "devbox", "") + block("server", "server", "") + block("lab", "lab", "")
	here.configure(three, block("changed", "changed", ""), block("old", "lab", fmt.Sprintf("path = %q\n", oldPath)), block("later", "lab", fmt.Sprintf("path = %q\n", laterPath)))
	tr := &tray{Process: here.desktopProgram(desktop), s: here.Sandbox, desktop: desktop}
	tr.icons(1)
	tr.Shows("◐", "proj · server · Codex")
	tr.Shows("◐", "proj · lab · Pi", "test it")
	tr.Shows("proj · devbox · Claude Code", "look at it")
	tr.Shows("⚠ changed: the host key of changed has changed")
	tr.Shows("⚠ old: the Rollcall there is too old for this one")
	tr.Shows("⚠ later: the Rollcall there is too new for this one (schema 2")
	before := len(desktop.Shown())
	tr.quiet(before, "of what the first roll has")
	out, errs := here.list()
	for _, want := range []string{"MACHINE", "devbox:", "server:", "lab:", "Codex", "Pi", "Claude Code"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in the list:\n%s", want, out)
		}
	}
	if n := strings.Count(out, "\n"); n != 4 {
		t.Errorf("%d lines, want a head and 3 sessions:\n%s", n, out)
	}
	for _, want := range []string{"changed: the host key of changed has changed", "old: the Rollcall there is too old", "update it (rollcall machine add --update old)", "later: the Rollcall there is too new"} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in what list says:\n%s", want, errs)
		}
	}
	here.configure(three) // the tray follows

	window := here.window(desktop)
	asked := claude.PromptUntil("need it [[bash touch asked.txt]]", "Do you want to proceed?")
	if n := tr.notified(before, asked, time.Now()); n.Summary != "Claude Code needs permission in proj on devbox" {
		t.Errorf("told %q, %q", n.Summary, n.Body)
	}
	tr.Shows("◆", "proj · devbox · Claude Code", "needs permission")
	wire.Freeze(true) // noticed after three heartbeats
	claude.Answer("1", "Done.")
	if err := poll(20*time.Second, func() bool { return !desktop.Shown()[before].Withdraw.IsZero() }); err != nil {
		t.Errorf("the notification of the answered wait stays: %v", err)
	}
	i := slices.IndexFunc(lab.Processes(), func(p Process) bool { return p.Comm == "pi" })
	if i < 0 {
		t.Fatalf("no Pi in %v", lab.Processes())
	}
	killed := time.Now()
	lab.Signal(lab.Processes()[i], unix.SIGKILL)
	if n := tr.notified(before+1, killed, time.Now()); n.Summary != "Pi ended in proj on lab" || !strings.Contains(n.Body, "Died in mid-turn") {
		t.Errorf("told %q, %q", n.Summary, n.Body)
	}
	if err := desktop.Screenshot(filepath.Join("..", "..", "build", "shots", "agents-window-machines.png")); err != nil {
		t.Error(err)
	}
	here.Signal(window, unix.SIGKILL)

	tr.waits(90*time.Second, "the cut connection", func(labels []string) bool {
		return slices.ContainsFunc(labels, func(l string) bool { return strings.Contains(l, "⚠ server: no data from server for 45 s") })
	})
	devbox.Down()
	tr.Shows("⚠ devbox: connection refused: no ssh server listens on devbox")
	tr.Shows("proj · devbox · Claude Code")
	tr.Shows("◐", "proj · server · Codex")
	_, errs = here.list()
	if !strings.Contains(errs, "devbox: connection refused: no ssh server listens on devbox") || !strings.Contains(errs, "server: no complete answer in 5 s") {
		t.Errorf("list says:\n%s", errs)
	}
	tr.quiet(before+2, "of machines that are lost, not ended")
	wire.Freeze(false)
	tr.waits(time.Minute, "the connection", func(labels []string) bool {
		return !slices.ContainsFunc(labels, func(l string) bool { return strings.Contains(l, "⚠ server") })
	})
	tr.stop()
}

// window opens the window, and waits until it is connected to every machine.
func (u *userHere) window(d *desktoptest.Desktop) Process {
	u.t.Helper()
	p := u.desktopProgram(d, "window")
	var id string
	xdotool := func(args ...string) bool {
		cmd := exec.Command("xdotool", args...)
		cmd.Env = d.Env()
		out, err := cmd.Output()
		id = strings.TrimSpace(string(out))
		return err == nil
	}
	if err := poll(20*time.Second, func() bool {
		return xdotool("search", "--onlyvisible", "--name", "^Rollcall$") && id != "" && u.connections(p) == 3
	}); err != nil {
		u.t.Fatalf("no window, or %d connections: %v", u.connections(p), err)
	}
	return p
}
