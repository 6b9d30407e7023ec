package focus_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"rollcall/app/control/focus"
	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/proc/desktop"
)

// These desktops and terminals can't be run here. Their answers are recorded, or follow their documentation.

// TestMain lets the test's program stand for a terminal: see terminalThat.
func TestMain(m *testing.M) {
	if socket := os.Getenv("ROLLCALL_TEST_TERMINAL"); socket != "" {
		terminalProcess(socket)
		return
	}
	if filepath.Base(os.Args[0]) == "wezterm" {
		clientProcess()
		return
	}
	os.Exit(m.Run())
}

// terminalProcess listens on a socket, and runs a shell in a session of its own until it ends.
func terminalProcess(socket string) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if text, err := io.ReadAll(conn); err == nil && len(text) > 0 {
				_ = os.WriteFile(socket+".said", text, 0o600)
			}
			_ = conn.Close()
		}
	}()
	cmd := exec.Command("sh", "-c", os.Getenv("ROLLCALL_TEST_RUN"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	_ = cmd.Run()
}

// clientProcess sends its arguments and what it may do to the terminal that its environment names, and waits until they are read.
func clientProcess() {
	conn, err := net.Dial("unix", os.Getenv("WEZTERM_UNIX_SOCKET"))
	if err != nil {
		panic(err)
	}
	written := os.WriteFile(filepath.Join(os.Getenv("HOME"), "written"), nil, 0o600)
	fmt.Fprintf(conn, "%s|%t|%t", strings.Join(os.Args[1:], " "), errors.Is(written, os.ErrPermission), errors.Is(exec.Command("/bin/true").Run(), os.ErrPermission))
	_ = conn.(*net.UnixConn).CloseWrite()
	_, _ = io.Copy(io.Discard, conn)
}

// conversation answers requests on a socket as they were recorded, and returns the requests.
func conversation(t *testing.T, answers map[string]string) (socket string, asked func() []string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "socket")
	l := must.Get(net.Listen("unix", socket))(t)
	requests := make(chan string, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			b := make([]byte, 4096)
			n, _ := conn.Read(b)
			requests <- string(b[:n])
			if answer, ok := answers[string(b[:n])]; ok {
				_, _ = io.WriteString(conn, answer)
			} else {
				_, _ = io.WriteString(conn, "unknown request")
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return socket, func() (list []string) {
		for {
			select {
			case r := <-requests:
				list = append(list, r)
			default:
				return list
			}
		}
	}
}

// The answers of Hyprland 0.45 in the form of wiki.hypr.land, "Using hyprctl", cut to two windows.
const (
	hyprlandClients = `[{"address": "0x55d1c0a3b2e0","mapped": true,"hidden": false,"at": [12, 48],"size": [931, 1020],"workspace": {"id": 1,"name": "1"},"class": "foot","title": "foot","pid": %d,"xwayland": false,"focusHistoryID": 1},
{"address": "0x55d1c0b00010","mapped": true,"class": "firefox","title": "x","pid": 1,"xwayland": false}]`
	hyprlandActive = `{"address": "0x55d1c0a3b2e0","mapped": true,"class": "foot","pid": %d,"focusHistoryID": 0}`
)

func TestShowHyprland(t *testing.T) {
	self := proc.Self()
	socket, asked := conversation(t, map[string]string{
		"j/clients": fmt.Sprintf(hyprlandClients, self.PID), "j/activewindow": fmt.Sprintf(hyprlandActive, self.PID),
		"dispatch focuswindow address:0x55d1c0a3b2e0": "ok"})
	d := desktop.OnHyprland(socket)
	list, err := d.Windows(t.Context())
	if err != nil || len(list) != 2 || list[0] != (desktop.Window{ID: 0x55d1c0a3b2e0, PID: self.PID, Title: "foot"}) {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := d.Raise(t.Context(), list[0]); err != nil {
		t.Error(err)
	}
	if got := strings.Join(asked(), "; "); got != "j/clients; dispatch focuswindow address:0x55d1c0a3b2e0; j/activewindow" {
		t.Errorf("asked %s", got)
	}
	if err := d.Raise(t.Context(), list[1]); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a window that it does not raise: %v", err)
	}
	none, _ := conversation(t, map[string]string{"j/activewindow": "{}", "j/clients": "not JSON"})
	if _, ok, err := desktop.OnHyprland(none).Active(t.Context()); ok || err != nil {
		t.Errorf("no active window: %v, %v", ok, err)
	}
	if _, err := desktop.OnHyprland(none).Windows(t.Context()); err == nil {
		t.Error("an answer in another form is no error")
	}
	must.Do(t, os.Chmod(filepath.Dir(socket), 0o777))
	if _, err := d.Windows(t.Context()); err == nil || !strings.Contains(err.Error(), "is not a socket that belongs to you") {
		t.Errorf("a folder in which others can write: %v", err)
	}
}

// TestSwayInOtherForms: what is no sway, and one that never answers, end in errors.
func TestSwayInOtherForms(t *testing.T) {
	t.Parallel()
	garbage, _ := conversation(t, nil)
	if _, err := desktop.OnSway(garbage).Windows(t.Context()); err == nil {
		t.Error("garbage is no error")
	}
	silent := filepath.Join(t.TempDir(), "socket")
	l := must.Get(net.Listen("unix", silent))(t)
	defer l.Close()
	if _, err := desktop.OnSway(silent).Windows(t.Context()); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one that never answers: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := desktop.OnSway(silent).Raise(ctx, desktop.Window{ID: 1, PID: 1}); err == nil {
		t.Error("an interrupted request is no error")
	}
}

// program puts the test's program in front of PATH under other names.
func (s *screen) program(names ...string) {
	s.t.Helper()
	self := must.Get(os.Executable())(s.t)
	for _, name := range names {
		must.Do(s.t, os.Symlink(self, s.file(name)))
	}
	s.t.Setenv("PATH", s.dir+":"+os.Getenv("PATH"))
}

// terminalThat starts the test's program as a terminal that listens on a socket, with an agent in it.
func (s *screen) terminalThat(socket string, env ...string) *exec.Cmd {
	s.t.Helper()
	self := must.Get(os.Executable())(s.t)
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), "ROLLCALL_TEST_TERMINAL="+socket, "ROLLCALL_TEST_RUN="+s.agent("one")), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// standIn puts a program in front of PATH that records its arguments and a variable.
func (s *screen) standIn(name, variable string) (said func() string) {
	s.t.Helper()
	file := s.file(name + ".said")
	text := "#!/bin/sh\necho \"$" + variable + "|$*\" >>'" + file + "'\n"
	must.Do(s.t, os.WriteFile(s.file(name), []byte(text), 0o700))
	s.t.Setenv("PATH", s.dir+":"+os.Getenv("PATH"))
	return func() string {
		text, _ := os.ReadFile(file)
		return strings.TrimSpace(string(text))
	}
}

// TestShowWezTerm: WezTerm's client is asked, and can neither write nor execute, where the kernel has Landlock.
func TestShowWezTerm(t *testing.T) {
	s := &screen{t: t, table: proc.Open(), dir: t.TempDir()}
	s.finder = focus.New(s.table, nil)
	s.program("wezterm", "wezterm-gui")
	t.Setenv("HOME", s.dir)
	socket := s.file("gui-sock")
	s.terminalThat(socket, "WEZTERM_UNIX_SOCKET="+socket, "WEZTERM_PANE=7")
	p := s.plan(s.identity("one"))
	if len(p.Steps) != 1 || p.Steps[0].Kind != focus.TabStep || p.Steps[0].Text != "select pane 7 of WezTerm" || !p.Seen {
		t.Fatalf("%+v", p)
	}
	must.Do(t, p.Steps[0].Run(t.Context()))
	_, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	text, err := os.ReadFile(socket + ".said")
	if want := fmt.Sprintf("cli --no-auto-start activate-pane --pane-id 7|%[1]t|%[1]t", errno == 0); string(text) != want {
		t.Errorf("said %q, want %q: %v", text, want, err)
	}
}

// TestShowSandboxed: for an agent in a sandbox no terminal is asked, although it is that of an ancestor.
func TestShowSandboxed(t *testing.T) {
	for name, wrap := range map[string]string{
		"none": "env", "no new privileges": "setpriv --no-new-privs", "user namespace": "unshare -U --", "mount namespace": "unshare -rm --",
		"bubblewrap": "bwrap --dev-bind / / --", "firejail": "firejail --quiet --noprofile --",
	} {
		t.Run(name, func(t *testing.T) {
			words := strings.Fields(wrap)
			if out, err := exec.Command(words[0], append(words[1:], "true")...).CombinedOutput(); err != nil {
				t.Skipf("%s: %v: %s", wrap, err, out)
			}
			s := &screen{t: t, table: proc.Open(), dir: t.TempDir()}
			s.finder = focus.New(s.table, nil)
			s.program("wezterm", "wezterm-gui")
			socket := s.file("gui-sock")
			sleep := fmt.Sprintf("1000.%d%06d", os.Getpid(), rand.IntN(1e6)) // one that an earlier wrapper left goes on
			s.terminalThat(socket, "WEZTERM_UNIX_SOCKET="+socket, "WEZTERM_PANE=7", "ROLLCALL_TEST_RUN="+wrap+" sleep "+sleep)
			var id proc.Identity
			s.until("the agent", func() bool { // its pid inside may be another one
				rows, _ := s.table.List(t.Context())
				i := slices.IndexFunc(rows, func(p proc.Process) bool {
					args, err := s.table.Args(p.Identity)
					return err == nil && len(args) == 2 && args[0] == "sleep" && args[1] == sleep
				})
				if i >= 0 {
					id = rows[i].Identity
				}
				return i >= 0
			})
			t.Cleanup(func() { _ = syscall.Kill(id.PID, syscall.SIGKILL) }) // a wrapper may have left it
			p := s.plan(id)
			if asked := len(p.Steps) > 0 || p.Seen; asked != (name == "none") {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestShowOtherSocket: a variable that leads to another program's socket is not followed.
func TestShowOtherSocket(t *testing.T) {
	s := &screen{t: t, table: proc.Open(), dir: t.TempDir()}
	s.finder = focus.New(s.table, nil)
	said := s.standIn("wezterm", "WEZTERM_UNIX_SOCKET")
	other, asked := conversation(t, nil)
	cmd := s.terminalThat(s.file("socket"), "WEZTERM_UNIX_SOCKET="+other, "WEZTERM_PANE=7", "KITTY_PID=1", "KITTY_WINDOW_ID=1", "KITTY_LISTEN_ON=unix:"+other,
		"TMUX="+other+",1,0", "STY=1.x")
	id := s.identity("one")
	_ = cmd
	// The test's process listens on that socket. It is an ancestor, but no session leader's parent.
	if p := s.plan(id); len(p.Steps) != 0 || p.Seen {
		t.Errorf("%+v", p)
	}
	for _, request := range asked() {
		if request != "" { // a connection to see who listens
			t.Errorf("sent %q", request)
		}
	}
	if said() != "" {
		t.Errorf("said %q", said())
	}
}

// installEditor writes an editor that is made from VS Code, and returns its folder and the file into which its command writes what it gets.
func (s *screen) installEditor() (install, said string) {
	t := s.t
	t.Helper()
	install, said = s.file("share/codium"), s.file("said")
	for _, folder := range []string{"bin", "resources/app"} {
		must.Do(t, os.MkdirAll(filepath.Join(install, folder), 0o700))
	}
	shell := must.Get(os.ReadFile("/bin/sh"))(t)
	for path, text := range map[string]string{
		"codium":                     string(shell),
		"bin/codium":                 "#!/bin/sh\necho \"$#|$*\" >'" + said + "'\n",
		"resources/app/product.json": `{"nameShort": "VSCodium", "nameLong": "VSCodium", "applicationName": "codium"}`,
	} {
		must.Do(t, os.WriteFile(filepath.Join(install, path), []byte(text), 0o700))
	}
	return install, said
}

// TestShowEditor: a terminal of VS Code, or of an editor made from it, by the folder that a window has open.
func TestShowEditor(t *testing.T) {
	s := &screen{t: t, table: proc.Open(), dir: t.TempDir()}
	s.finder = focus.New(s.table, nil)
	install, said := s.installEditor()
	t.Setenv("PATH", filepath.Join(install, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("XDG_CONFIG_HOME", s.file("config"))
	storage := s.file("config/VSCodium/User/globalStorage/storage.json")
	must.Do(t, os.MkdirAll(filepath.Dir(storage), 0o700))
	state := `{"windowsState": {"lastActiveWindow": {"folder": "file:///work/other"}, "openedWindows": [{"folder": "file:///work"}, {"folder": "file:///work/my%20shop"}, {"folder": "vscode-remote://ssh-remote/work/my shop/api"}]}}`
	must.Do(t, os.WriteFile(storage, []byte(state), 0o600))
	cmd := exec.Command(filepath.Join(install, "codium"), "-c", s.script("one")+"; true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	id := s.identity("one")
	p, err := s.finder.Plan(t.Context(), nil, id, "/work/my shop/api")
	if err != nil || len(p.Steps) != 1 || p.Steps[0].Kind != focus.EditorStep || p.Steps[0].Text != "raise the window of VSCodium with /work/my shop" || !p.Seen {
		t.Fatalf("%+v, %v", p, err)
	}
	must.Do(t, p.Steps[0].Run(t.Context()))
	if text, _ := os.ReadFile(said); strings.TrimSpace(string(text)) != "1|/work/my shop" {
		t.Errorf("ran it with %q", text)
	}
	agent := must.Get(s.table.Find(id.PID))(t)
	for pid, kind := range map[int]focus.Kind{agent.PPID: focus.WindowStep, cmd.Process.Pid: focus.EditorStep} { // a terminal that was started in the editor
		p, err := s.finder.Plan(t.Context(), []desktop.Desktop{&windowsOf{pids: []int{pid, cmd.Process.Pid}}}, id, "/work/my shop/api")
		if err != nil || len(p.Steps) != 1 || p.Steps[0].Kind != kind || !p.Seen {
			t.Errorf("%+v, %v; want %v", p, err, kind)
		}
	}
	// An agent's program that looks like an editor: in the folder of a session, or neither root's nor in PATH.
	s.noEditor(id, "an editor in the folder of a session", "/work/my shop/api", s.dir)
	t.Setenv("PATH", "/usr/bin:/bin")
	if os.Getuid() == 0 {
		must.Do(t, os.Chown(filepath.Join(install, "bin"), 65534, -1))
	}
	s.noEditor(id, "an editor that is neither root's nor in PATH", "/work/my shop/api")
	// No window has that folder: it would open a new one.
	s.noEditor(id, "a folder that no window has", "/elsewhere")
}

// noEditor checks that no editor is offered for a process in a folder, given the folders of all sessions.
func (s *screen) noEditor(id proc.Identity, what, folder string, sessions ...string) {
	s.t.Helper()
	if p, err := s.finder.Plan(s.t.Context(), nil, id, folder, sessions...); err != nil || len(p.Steps) != 0 || p.Seen {
		s.t.Errorf("%s: %+v, %v", what, p, err)
	}
}

// windowsOf is a desktop with windows of these processes.
type windowsOf struct {
	desktop.Desktop
	pids []int
}

func (*windowsOf) Name() string { return "X11" }
func (w *windowsOf) Windows(context.Context) (list []desktop.Window, err error) {
	for _, pid := range w.pids {
		list = append(list, desktop.Window{ID: uint64(pid), PID: pid})
	}
	return list, nil
}

// reused is a process table in which process 30 has a parent that has ended, and whose number a later process has.
type reused struct{ focus.Table }

func (reused) Env(proc.Identity) ([]string, error) { return nil, nil }
func (reused) Find(pid int) (proc.Process, error) {
	for _, p := range []proc.Process{
		{Identity: proc.Identity{PID: 40, Start: 9}, PPID: 30}, {Identity: proc.Identity{PID: 30, Start: 9}, PPID: 20},
		{Identity: proc.Identity{PID: 20, Start: 10}, PPID: 10}, {Identity: proc.Identity{PID: 10, Start: 1}},
	} {
		if p.PID == pid {
			return p, nil
		}
	}
	return proc.Process{}, errors.New("no such process")
}

// TestReusedParent: a process that is younger than its child is not its parent.
func TestReusedParent(t *testing.T) {
	p, ok := focus.New(reused{}, nil).Place(proc.Identity{PID: 40, Start: 9})
	if !ok || len(p.Ancestors) != 1 || p.Ancestors[0].PID != 30 {
		t.Errorf("%+v", p)
	}
}

// kwinScript runs a script of KWin with node, in place of KWin, and returns what the script reports by callDBus.
func kwinScript(t *testing.T, six bool, file string) (arguments []string) {
	t.Helper()
	script, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return nil
	}
	before := `var list = [{pid: ` + strconv.Itoa(os.Getpid()) + `, internalId: {toString: () => "{04add7fb-72b8-4e58-8ac1-5e22730b907b}"}, normalWindow: true},
		{pid: 1, internalId: {toString: () => "{b}"}, normalWindow: true}, {pid: 2, internalId: {toString: () => "{panel}"}, normalWindow: false, dialog: false}];
		function callDBus() { console.log(JSON.stringify(Array.from(arguments))); }
		var workspace = ` + map[bool]string{true: `{activeWindow: list[1], windowList: () => list}`, false: `{activeClient: list[1], clientList: () => list}`}[six] + ";\n"
	out, err := exec.Command("node", "-e", before+string(script)).Output()
	if err != nil {
		t.Errorf("node: %v", err)
		return nil
	}
	line, err := bufio.NewReader(strings.NewReader(string(out))).ReadString('\n')
	if err != nil || json.Unmarshal([]byte(line), &arguments) != nil {
		t.Errorf("the script printed %q", out)
	}
	return arguments
}
