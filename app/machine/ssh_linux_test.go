package machine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/sshtest"
)

// TestTwoMachines: the sessions of two machines are shown with their states, what happens to them are events, and a machine that is killed
// is stale with its reason while the other goes on.
func TestTwoMachines(t *testing.T) {
	if !inside(t) {
		return
	}
	c := sshtest.NewClient(t, t.Setenv)
	one, two := newBox(t, c, "devbox", "/tmp/bin"), newBox(t, c, "server", "/tmp/bin")
	work := one.claude.Start("/src/shop", "Fix \x1b[31mthe login\x1b[0m")
	wait := two.claude.Start("/src/site", "Deploy it")
	s := run(t, host("devbox"), host("server"))
	workID, waitID := app.MachineID("devbox", work.ID), app.MachineID("server", wait.ID)
	first := s.await(t, "devbox", "ok with its session", func(r app.MachineRoll) bool { return isOK(r) && rowOf(r, workID) != nil })
	s.await(t, "server", "ok with its session", func(r app.MachineRoll) bool { return isOK(r) && rowOf(r, waitID) != nil })
	row := rowOf(first, workID)
	if row.Status != adapters.Working || row.Machine != "devbox" || row.Remote != "devbox" || !row.Process.IsZero() || row.FirstPrompt != "Fix the login" {
		t.Errorf("%+v", row)
	}
	if got := s.kinds(app.Started); len(got) != 0 {
		t.Errorf("the first roll made events: %+v", got)
	}

	wait.Ask()
	s.await(t, "server", "waiting", func(r app.MachineRoll) bool {
		row := rowOf(r, waitID)
		return row != nil && row.Status == adapters.Waiting
	})
	if got := s.kinds(app.Changed); len(got) != 1 || got[0].Session.ID != waitID || got[0].Before.Status != adapters.Working || got[0].Session.WaitingFor != adapters.ForPermission {
		t.Errorf("changes %+v", got)
	}

	one.Down() // kills the Rollcall there too
	stale := s.await(t, "devbox", "stale", func(r app.MachineRoll) bool { return r.State == app.Failed })
	if row := rowOf(stale, workID); row == nil || row.Stale == nil || row.Status != adapters.Working {
		t.Errorf("%+v", row)
	}
	s.await(t, "devbox", "refused", failedWith("connection refused"))
	work.Answer("Done")
	work.Exit()
	wait.Answer("Done")
	s.await(t, "server", "idle", func(r app.MachineRoll) bool {
		row := rowOf(r, waitID)
		return row != nil && row.Status == adapters.Idle
	})
	one.Up()
	s.await(t, "devbox", "ok again", isOK)
	ended := s.kinds(app.Ended)
	if len(ended) != 1 || ended[0].Session.ID != workID || ended[0].Before.Status != adapters.Working || ended[0].MachineProcess == "" || !ended[0].Process.IsZero() {
		t.Errorf("ends %+v", ended)
	}
}

// TestConnectionCut: a connection that carries nothing any more is noticed by the missing heartbeat.
func TestConnectionCut(t *testing.T) {
	if !inside(t) {
		return
	}
	c := sshtest.NewClient(t, t.Setenv)
	b := newBox(t, c, "direct", "/tmp/bin")
	w := sshtest.NewWire(t, b.Port)
	c.Add("devbox", w.Port, b.Key)
	b.claude.Start("/src/shop", "Fix the login")
	s := run(t, host("devbox"))
	s.await(t, "devbox", "ok", isOK)
	w.Freeze(true)
	s.await(t, "devbox", "silent", failedWith("no data from devbox"))
	w.Freeze(false)
	r := s.await(t, "devbox", "ok again", isOK)
	if len(r.Sessions) != 1 || r.Sessions[0].Stale != nil || len(s.kinds(app.Ended))+len(s.kinds(app.Started)) != 0 {
		t.Errorf("%+v, events %+v", r, s.events)
	}
}

// TestOwnWords: each way in which a machine can't be asked has words of its own.
func TestOwnWords(t *testing.T) {
	if !inside(t) {
		return
	}
	c := sshtest.NewClient(t, t.Setenv)
	b := newBox(t, c, "devbox", "/tmp/bin")
	c.Add("unknown", b.Port, "")
	password := c.Start(sshtest.Options{Password: true})
	c.Add("password", password.Port, password.Key)
	empty := c.Start(sshtest.Options{Env: []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}})
	c.Add("empty", empty.Port, empty.Key)
	c.Add("closed", sshtest.FreePort(t), "")
	foreign := c.Start(sshtest.Options{Extra: "AuthorizedKeysCommand none\nDenyUsers root\n"})
	c.Add("denied", foreign.Port, foreign.Key)
	changed := c.Start(sshtest.Options{})
	c.Add("changed", changed.Port, changed.Key)
	changed.ChangeKey()
	for name, want := range map[string]string{
		"password": "password asks for a password, and Rollcall gives none",
		"empty":    "there is no Rollcall on empty; rollcall machine add empty copies it",
		"closed":   "connection refused: no ssh server listens on closed",
		"denied":   "permission denied: denied accepts none of your keys",
		"changed":  "the host key of changed has changed",
		"no.such":  "host not found: no.such",
	} {
		r := host(name).ask(t.Context(), 0, 30*time.Second)
		if text := strings.Join(r.Problems, " "); r.State != app.Failed || !strings.Contains(text, want) {
			t.Errorf("%s: %s %q, want %q", name, r.State, text, want)
		}
	}
	c.Forget()
	if r := host("unknown").ask(t.Context(), 0, 30*time.Second); !strings.Contains(strings.Join(r.Problems, " "), "the host key of unknown is not known here") {
		t.Errorf("unknown key: %+v", r)
	}
	t.Setenv("PATH", t.TempDir())
	if r := host("devbox").ask(t.Context(), 0, 30*time.Second); !strings.Contains(strings.Join(r.Problems, " "), "ssh is not installed on this machine") {
		t.Errorf("no ssh: %+v", r)
	}
}

// TestHangingServer: a listener that never answers costs the limit, and no more.
func TestHangingServer(t *testing.T) {
	if !inside(t) {
		return
	}
	c := sshtest.NewClient(t, t.Setenv)
	w := sshtest.NewWire(t, sshtest.FreePort(t))
	b := newBox(t, c, "devbox", "/tmp/bin")
	silent := sshtest.NewWire(t, b.Port)
	silent.Freeze(true)
	c.Add("silent", silent.Port, b.Key)
	c.Add("gone", w.Port, b.Key)
	s := b.claude.Start("/src/shop", "Fix the login")
	m := Of(host("silent"), host("gone"), host("devbox"))
	rolls := m.Ask(t.Context(), 0, 3*time.Second)
	if !failedWith("no complete answer in 3 s")(rolls[0]) || !failedWith("gone closed the connection")(rolls[1]) {
		t.Errorf("%+v\n%+v", rolls[0], rolls[1])
	}
	if !isOK(rolls[2]) || rowOf(rolls[2], app.MachineID("devbox", s.ID)) == nil {
		t.Errorf("%+v", rolls[2])
	}
}

// loginShell makes a program the login shell of root in this mount namespace until the test ends. It skips the test where the program is not
// installed.
func loginShell(t *testing.T, shell string) {
	t.Helper()
	if _, err := os.Stat(shell); err != nil {
		must.Skip(t, fmt.Sprintf("%s is not installed (packaging/setup installs it)", shell))
	}
	passwd := filepath.Join(t.TempDir(), "passwd")
	must.Do(t, os.WriteFile(passwd, []byte("root:x:0:0:root:/root:"+shell+"\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"), 0o644))
	must.Do(t, unix.Mount(passwd, "/etc/passwd", "", unix.MS_BIND, ""))
	t.Cleanup(func() {
		if err := unix.Unmount("/etc/passwd", 0); err != nil {
			t.Error(err)
		}
	})
}

// TestLoginShells: whatever the login shell of the account there is, a command runs with its words unchanged and what it prints is
// cleaned, the stream is read, and a program is copied.
func TestLoginShells(t *testing.T) {
	if !inside(t) {
		return
	}
	for _, shell := range []string{"/bin/dash", "/bin/bash", "/bin/tcsh", "/usr/bin/fish"} {
		t.Run(filepath.Base(shell), func(t *testing.T) {
			loginShell(t, shell)
			c := sshtest.NewClient(t, t.Setenv)
			testWords(t, c)
			b := newBox(t, c, "devbox", "/nowhere")
			work := b.claude.Start("/src/shop", "Fix the login")
			h := host("devbox")
			program := must.Get(FindBinary(insideProgram, System{runtime.GOOS, runtime.GOARCH}))(t)
			if r := h.ask(t.Context(), 0, 30*time.Second); !failedWith("there is no Rollcall on devbox")(r) {
				t.Errorf("%+v", r)
			}
			if system, err := h.System(t.Context()); err != nil || system.Arch != runtime.GOARCH {
				t.Errorf("%+v, %v", system, err)
			}
			must.Do(t, h.Install(t.Context(), program))
			eventually.True(t, "the session", func() bool { // on a busy machine an answer can come without all of it
				r := h.ask(t.Context(), 0, 30*time.Second)
				return isOK(r) && rowOf(r, app.MachineID("devbox", work.ID)) != nil
			})
		})
	}
}

// testWords checks the words that reach a command on the other side, and what comes back of it.
func testWords(t *testing.T, c *sshtest.Client) {
	t.Helper()
	words := []string{"launch", "it's", `back\slash \\ end\`, `$(touch /tmp/owned) "x" ` + "`y`", "-n", "", "two\nlines", "*", "wow! !! !$", "~", "ü\xff", "end\n", "%s \\0101"}
	program := filepath.Dir(script(t, `[ "$1" = fail ] && { printf 'rollcall: no \033[31msuch session\n' >&2; exit 4; }
for a in "$@"; do printf '<%s>\033[31m\007\n' "$a"; done; cat`)[0])
	s := c.Start(sshtest.Options{Env: []string{"PATH=" + program + ":/usr/bin:/bin", "HOME=" + t.TempDir()}})
	c.Add("words", s.Port, s.Key)
	var out, errs bytes.Buffer
	code, err := host("words").Run(t.Context(), strings.NewReader("prompt\x1b]0;x\x07\n"), &out, &errs, words...)
	want := ""
	for _, w := range words {
		want += "<" + strings.ToValidUTF8(w, "\uFFFD") + ">\n"
	}
	want += "prompt\n"
	if code != 0 || err != nil || out.String() != want {
		t.Errorf("code %d, %v, %q\n got %q\nwant %q", code, err, errs.String(), out.String(), want)
	}
	errs.Reset()
	code, err = host("words").Run(t.Context(), nil, &out, &errs, "fail")
	if code != 4 || err != nil || errs.String() != "rollcall: no such session\n" {
		t.Errorf("code %d, %v, %q", code, err, errs.String())
	}
	if _, err := os.Stat("/tmp/owned"); err == nil {
		t.Error("a word became a command")
	}
}

// TestPathThere: a path of the settings may begin with ~.
func TestPathThere(t *testing.T) {
	h := &Host{Machine: settings.Machine{Name: "a", SSH: "a", Path: "~/my bin/rollcall"}}
	if got, want := h.program(), `exec "$HOME"/'my bin/rollcall' "$@"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
