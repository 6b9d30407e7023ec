package focus_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rollcall/app/control/focus"
	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/proc/desktop"
)

// x returns the display as focus sees it.
func (s *screen) x() desktop.Desktop { return desktop.OnX11(s.Display()) }

// plan returns the plan for an agent.
func (s *screen) plan(id proc.Identity, desktops ...desktop.Desktop) *focus.Plan {
	s.t.Helper()
	p := must.Get(s.finder.Plan(s.t.Context(), desktops, id, ""))(s.t)
	return p
}

// show does what the plan for an agent says, and returns it.
func (s *screen) show(what string, id proc.Identity, desktops ...desktop.Desktop) *focus.Plan {
	s.t.Helper()
	p := s.plan(id, desktops...)
	if !p.Seen {
		s.t.Fatalf("%s: nothing can be shown: %s", what, p.Note)
	}
	for i := range p.Steps {
		if err := p.Steps[i].Run(s.t.Context()); err != nil {
			s.t.Fatalf("%s: %s: %v", what, p.Steps[i].Text, err)
		}
	}
	return p
}

// active returns the active window, as the window manager reports it.
func (s *screen) active() uint64 {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "xdotool", "getactivewindow")
	cmd.Env = s.env()
	out, err := cmd.Output()
	if err != nil {
		return 0
	}
	id, _ := strconv.ParseUint(strings.TrimSpace(string(out)), 10, 64)
	return id
}

// windowID returns the window that the environment of an agent names, which is empty for a moment while its program is replaced.
func (s *screen) windowID(id proc.Identity) (window uint64) {
	s.t.Helper()
	s.until(fmt.Sprintf("WINDOWID of process %d", id.PID), func() bool {
		env := must.Get(s.table.Env(id))(s.t)
		for _, entry := range env {
			if value, ok := strings.CutPrefix(entry, "WINDOWID="); ok {
				window, _ = strconv.ParseUint(value, 10, 64)
			}
		}
		return window != 0
	})
	return window
}

// windows waits until a terminal has n windows, and returns them.
func (s *screen) windows(d desktop.Desktop, pid, n int) (ids []uint64) {
	s.t.Helper()
	s.until("the windows of "+strconv.Itoa(pid), func() bool {
		ids = nil
		list := must.Get(d.Windows(s.t.Context()))(s.t)
		for _, w := range list {
			if w.PID == pid {
				ids = append(ids, w.ID)
			}
		}
		return len(ids) == n
	})
	return ids
}

// tmux runs tmux, and returns what it printed.
func (s *screen) tmux(socket string, args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = s.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// endTmux ends a tmux server with the test.
func (s *screen) endTmux(socket string) {
	s.t.Cleanup(func() {
		cmd := exec.Command("tmux", "-S", socket, "kill-server")
		cmd.Env = s.env()
		_ = cmd.Run()
	})
}

func TestShowXterm(t *testing.T) {
	s := newScreen(t)
	x := s.x()
	one := s.run("xterm", "-e", "sh", "-c", s.agent("one"))
	two := s.run("xterm", "-e", "sh", "-c", s.agent("two"))
	a, b := s.identity("one"), s.identity("two")
	first, second := s.windows(x, one.Process.Pid, 1), s.windows(x, two.Process.Pid, 1)
	for range 3 {
		s.show("the first", a, x)
		if s.active() != first[0] {
			t.Errorf("active is %d, not the first window %d", s.active(), first[0])
		}
		s.show("the second", b, x)
		if s.active() != second[0] {
			t.Errorf("active is %d, not the second window %d", s.active(), second[0])
		}
	}
	if p := s.plan(a, x); len(p.Steps) != 1 || p.Note != "" || !strings.HasPrefix(p.Steps[0].Text, "raise the window of xterm (process ") {
		t.Errorf("plan %+v", p)
	}
	// A minimised window comes back.
	cmd := exec.CommandContext(t.Context(), "xdotool", "windowminimize", "--sync", strconv.FormatUint(first[0], 10))
	cmd.Env = s.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.show("a minimised window", a, x)
	if s.active() != first[0] {
		t.Error("a minimised window was not raised")
	}
}

// TestShowNothing: what has no terminal here is not shown, and the reason is given.
func TestShowNothing(t *testing.T) {
	s := newScreen(t)
	x := s.x()
	s.run("xterm", "-e", "sh", "-c", "setsid sh -c 'echo $$ >"+s.file("back")+"; exec sleep 1000' & "+s.agent("one"))
	a, b := s.identity("one"), s.identity("back")
	for what, tt := range map[string]struct {
		id   proc.Identity
		on   []desktop.Desktop
		note string
	}{
		"an agent in the background": {b, []desktop.Desktop{x}, "it runs in the background: no terminal shows it"},
		"no desktop":                 {a, nil, "Rollcall runs outside of a desktop here: DISPLAY is not set"},
		"no X server":                {a, []desktop.Desktop{desktop.OnX11(":987")}, "X11 does not report its windows: "},
	} {
		p := s.plan(tt.id, tt.on...)
		if p.Seen || len(p.Steps) > 0 || !strings.HasPrefix(p.Note, tt.note) {
			t.Errorf("%s: %+v", what, p)
		}
	}
	if _, err := s.finder.Plan(t.Context(), []desktop.Desktop{x}, proc.Identity{PID: a.PID, Start: a.Start + 1, Boot: a.Boot}, ""); err == nil {
		t.Error("a plan for a process that reused the pid")
	}
}

// script returns the command of an agent in one line.
func (s *screen) script(name string) string {
	s.t.Helper()
	file := s.file(name + ".sh")
	must.Do(s.t, os.WriteFile(file, []byte(s.agent(name)), 0o600))
	return "sh " + file
}

// TestShowXfce: one process has two windows. WINDOWID names the right one.
func TestShowXfce(t *testing.T) {
	s := newScreen(t)
	need(t, "xfce4-terminal")
	x := s.x()
	terminal := s.run("xfce4-terminal", "--disable-server", "-e", s.script("one"), "--window", "-e", s.script("two"))
	a, b := s.identity("one"), s.identity("two")
	s.windows(x, terminal.Process.Pid, 2)
	first, second := s.windowID(a), s.windowID(b)
	if first == second {
		t.Fatal("both are in one window")
	}
	for range 3 {
		s.show("the first", a, x)
		if s.active() != first {
			t.Errorf("active is %d, not %d", s.active(), first)
		}
		s.show("the second", b, x)
		if s.active() != second {
			t.Errorf("active is %d, not %d", s.active(), second)
		}
	}
	if p := s.plan(a, x); p.Note != "" {
		t.Errorf("note %q for a window without tabs", p.Note)
	}
}

// TestShowXfceTabs: a tab of VTE can't be chosen. The window is raised, and the note says so.
func TestShowXfceTabs(t *testing.T) {
	s := newScreen(t)
	need(t, "xfce4-terminal")
	x := s.x()
	terminal := s.run("xfce4-terminal", "--disable-server", "-e", s.script("one"), "--tab", "-e", s.script("two"))
	a, b := s.identity("one"), s.identity("two")
	s.windows(x, terminal.Process.Pid, 1)
	if s.windowID(a) != s.windowID(b) {
		t.Fatal("they are not in one window")
	}
	p := s.show("a tab", a, x)
	if s.active() != s.windowID(a) || !strings.Contains(p.Note, "several tabs") {
		t.Errorf("active %d, note %q", s.active(), p.Note)
	}
}

// inTerminals are the terminals in which tmux is tried, with the command that runs another in each.
var inTerminals = map[string]func(args ...string) []string{
	"xterm": func(args ...string) []string { return append([]string{"xterm", "-e"}, args...) },
	"xfce4-terminal": func(args ...string) []string {
		return append([]string{"xfce4-terminal", "--disable-server", "-x"}, args...)
	},
	"kitty": func(args ...string) []string { return append([]string{"kitty", "--config", "NONE"}, args...) },
}

func TestShowTmux(t *testing.T) {
	for name, in := range inTerminals {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			need(t, name)
			x := s.x()
			socket := s.file("tmux.sock")
			s.tmux(socket, "new-session", "-d", "-s", "my work", "sh", "-c", s.agent("left"))
			s.endTmux(socket)
			s.tmux(socket, "split-window", "-t", "my work", "sh", "-c", s.agent("right"))
			s.tmux(socket, "new-window", "-t", "my work", "sh", "-c", s.agent("behind"))
			s.tmux(socket, "new-session", "-d", "-s", "detached", "sh", "-c", s.agent("alone"))
			left := s.identity("left")
			right := s.identity("right")
			behind := s.identity("behind")
			alone := s.identity("alone")
			if p := s.plan(left, x); p.Seen || p.Note != "it runs in tmux, and no terminal is attached to it" || !slices.Equal(p.Attach, []string{"tmux", "-S", socket, "attach-session", "-t", "$0"}) {
				t.Errorf("without an attached client: %+v", p)
			}
			terminal := s.run(in("tmux", "-S", socket, "attach", "-t", "my work")...)
			s.until("a client", func() bool { return s.tmux(socket, "list-clients") != "" })
			window := s.windows(x, terminal.Process.Pid, 1)[0]
			other := s.run("xterm", "-e", "sh", "-c", s.agent("other"))
			s.identity("other")
			for range 2 {
				for _, want := range []struct {
					id   proc.Identity
					pane string
				}{{left, "%0"}, {behind, "%2"}, {right, "%1"}, {alone, "%3"}} {
					s.activate(other)
					s.show(want.pane, want.id, x)
					if s.active() != window {
						t.Errorf("%s: active is %d, not %d", want.pane, s.active(), window)
					}
					if got := s.tmux(socket, "list-clients", "-F", "#{pane_id}"); got != want.pane {
						t.Errorf("the client shows %s, not %s", got, want.pane)
					}
				}
			}
		})
	}
}

// TestShowTmuxOfTwo: of two terminals the one that shows the session already is taken, and no plan follows a stale TMUX.
func TestShowTmuxOfTwo(t *testing.T) {
	s := newScreen(t)
	x := s.x()
	socket := s.file("tmux.sock")
	s.tmux(socket, "new-session", "-d", "-s", "one", "sh", "-c", s.agent("one"))
	s.endTmux(socket)
	s.tmux(socket, "new-session", "-d", "-s", "two", "sh", "-c", s.agent("two"))
	a, b := s.identity("one"), s.identity("two")
	first := s.run("xterm", "-e", "tmux", "-S", socket, "attach", "-t", "one")
	second := s.run("xterm", "-e", "tmux", "-S", socket, "attach", "-t", "two")
	s.until("the clients", func() bool { return strings.Count(s.tmux(socket, "list-clients")+"\n", "\n") == 2 })
	firstWindow, secondWindow := s.windows(x, first.Process.Pid, 1)[0], s.windows(x, second.Process.Pid, 1)[0]
	s.show("the first", a, x)
	if s.active() != firstWindow {
		t.Error("the terminal with the first session was not raised")
	}
	s.show("the second", b, x)
	if s.active() != secondWindow {
		t.Error("the terminal with the second session was not raised")
	}
	if got := s.tmux(socket, "list-clients", "-F", "#{session_name}:#{pane_id}"); got != "one:%0\ntwo:%1" && got != "two:%1\none:%0" {
		t.Errorf("the clients show %q", got)
	}
	server := s.tmux(socket, "display-message", "-p", "#{pid}")
	stale := s.run("xterm", "-e", "env", "TMUX="+socket+","+server+",0", "TMUX_PANE=%0", "sh", "-c", s.agent("stale"))
	c := s.identity("stale")
	staleWindow := s.windows(x, stale.Process.Pid, 1)[0]
	s.show("a terminal with a stale TMUX", c, x)
	if s.active() != staleWindow {
		t.Error("an inherited TMUX led to another terminal")
	}
}

func TestShowKitty(t *testing.T) {
	s := newScreen(t)
	need(t, "kitty")
	x := s.x()
	socket := s.file("kitty")
	terminal := s.run("kitty", "--config", "NONE", "-o", "allow_remote_control=yes", "--listen-on", "unix:"+socket, "sh", "-c", s.agent("one"))
	a := s.identity("one")
	remote := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "kitty", append([]string{"@", "--to", "unix:" + socket}, args...)...)
		cmd.Env = s.env()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("kitty @ %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	remote("launch", "--type=tab", "sh", "-c", s.agent("two"))
	b := s.identity("two")
	window := s.windows(x, terminal.Process.Pid, 1)[0]
	other := s.run("xterm", "-e", "sh", "-c", s.agent("other"))
	s.identity("other")
	for _, id := range []proc.Identity{a, b, a} {
		s.activate(other)
		p := s.show("a tab", id, x)
		if s.active() != window || p.Note != "" || p.Steps[0].Kind != focus.TabStep {
			t.Errorf("active %d, want %d: %+v", s.active(), window, p)
		}
		s.until("the tab", func() bool {
			var list []struct {
				Tabs []struct {
					Focused bool `json:"is_focused"`
					Windows []struct {
						PID int `json:"pid"`
					} `json:"windows"`
				} `json:"tabs"`
			}
			must.Do(t, json.Unmarshal([]byte(remote("ls")), &list))
			x := must.Get(s.table.Find(id.PID))(t)
			for _, tab := range list[0].Tabs {
				if tab.Focused {
					return tab.Windows[0].PID == x.PPID
				}
			}
			return false
		})
	}
}

func TestShowScreen(t *testing.T) {
	s := newScreen(t)
	need(t, "screen")
	x := s.x()
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "screen", args...)
		cmd.Env = s.env()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	name := "rollcall-" + strconv.Itoa(os.Getpid())
	terminal := s.run("xterm", "-e", "screen", "-S", name, "sh", "-c", s.agent("one"))
	a := s.identity("one")
	t.Cleanup(func() {
		cmd := exec.Command("screen", "-S", name, "-X", "quit")
		cmd.Env = s.env()
		_ = cmd.Run()
	})
	if out, err := run("-S", name, "-X", "screen", "sh", "-c", s.agent("two")); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := s.identity("two")
	window := s.windows(x, terminal.Process.Pid, 1)[0]
	other := s.run("xterm", "-e", "sh", "-c", s.agent("other"))
	s.identity("other")
	shows := func(number string) {
		t.Helper()
		s.until("window "+number, func() bool {
			out, _ := run("-S", name, "-Q", "number")
			return strings.HasPrefix(strings.TrimSpace(out), number+" ")
		})
	}
	for _, tt := range []struct {
		id     proc.Identity
		number string
	}{{a, "0"}, {b, "1"}, {a, "0"}} {
		s.activate(other)
		s.show("window "+tt.number, tt.id, x)
		if s.active() != window {
			t.Errorf("active is %d, not %d", s.active(), window)
		}
		shows(tt.number)
	}
	// No client is attached.
	_, _ = run("-d", name)
	s.until("the end of the terminal", func() bool {
		list, err := x.Windows(t.Context())
		return err == nil && !slices.ContainsFunc(list, func(w desktop.Window) bool { return w.ID == window })
	})
	p := s.plan(b, x)
	if p.Seen || len(p.Attach) != 3 || p.Attach[0] != "screen" || !strings.HasSuffix(p.Attach[2], "."+name) || p.Note != "it runs in screen, and no terminal is attached to it" {
		t.Errorf("without an attached client: %+v", p)
	}
}

// TestShowSway: windows of a headless sway.
func TestShowSway(t *testing.T) {
	need(t, "sway", "foot", "tmux")
	s := &screen{t: t, table: proc.Open(), dir: t.TempDir()}
	s.finder = focus.New(s.table, nil)
	runtime := filepath.Join(s.dir, "run")
	must.Do(t, os.Mkdir(runtime, 0o700))
	sockets := filepath.Dir(s.swaySocket()) // this user's, as the folder of a socket must be, also where sway runs as another one
	must.Do(t, errors.Join(os.Mkdir(sockets, 0o700), os.Chmod(sockets, 0o777|os.ModeSticky)))
	config := s.file("config")
	must.Do(t, os.WriteFile(config, []byte("xwayland disable\n"), 0o644))
	env := []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + runtime, "WLR_BACKENDS=headless", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman",
		"LANG=C.UTF-8", "SWAYSOCK=" + s.swaySocket()}
	start := func(argv ...string) *exec.Cmd {
		t.Helper()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env, cmd.Dir = env, s.dir // the folder of this test may be closed to others
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if os.Geteuid() == 0 { // sway refuses to run as root
			cmd.SysProcAttr.Credential = nobody(t, s.dir)
		}
		out := must.Get(os.Create(s.file(filepath.Base(argv[0]) + ".log")))(t)
		cmd.Stdout, cmd.Stderr = out, out
		must.Do(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if t.Failed() {
				text, _ := os.ReadFile(out.Name())
				t.Logf("%s: %s", argv[0], text)
			}
		})
		return cmd
	}
	start("sway", "--config", config)
	s.until("sway", func() bool {
		_, err := os.Stat(s.swaySocket())
		names, _ := filepath.Glob(filepath.Join(runtime, "wayland-*.lock"))
		if len(names) == 1 {
			env = append(env, "WAYLAND_DISPLAY="+strings.TrimSuffix(filepath.Base(names[0]), ".lock"))
		}
		return err == nil && len(names) == 1
	})
	must.Do(t, os.Chown(s.swaySocket(), os.Geteuid(), -1))
	s.showOnSway(start)
}
