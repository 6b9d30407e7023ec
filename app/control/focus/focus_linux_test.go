package focus_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/app/control/focus"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/proc/desktop"
)

// screen is a virtual desktop with terminals.
type screen struct {
	*desktoptest.Desktop
	t      *testing.T
	table  *proc.Table
	finder *focus.Finder
	dir    string
}

// need skips the test without these programs, or fails it in CI.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		must.Have(t, program)
	}
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	need(t, "xterm", "tmux", "xdotool")
	s := &screen{Desktop: desktoptest.For(t, desktoptest.Options{}), t: t, table: proc.Open(), dir: t.TempDir()}
	s.finder = focus.New(s.table, desktop.OnX11(s.Display()))
	return s
}

// run starts a program on the desktop.
func (s *screen) run(argv ...string) *exec.Cmd {
	s.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = s.env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// env returns the environment of the desktop's programs, outside of any terminal.
func (s *screen) env() (env []string) {
	for _, entry := range s.Env() {
		if name, _, _ := strings.Cut(entry, "="); name != "TMUX" && name != "TMUX_PANE" && name != "WINDOWID" {
			env = append(env, entry)
		}
	}
	return env
}

// agent returns a shell command that stands for an agent: it writes its pid to a file, and stays until it is killed. The
// shell that runs it stays longer.
func (s *screen) agent(name string) string {
	return "sleep 1000 & echo $! >" + s.file(name) + "; wait; exec sleep 1000"
}

func (s *screen) file(name string) string { return filepath.Join(s.dir, name) }

// identity returns the identity of an agent.
func (s *screen) identity(name string) proc.Identity {
	s.t.Helper()
	var id proc.Identity
	s.until("the agent "+name, func() bool {
		text, _ := os.ReadFile(s.file(name))
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return false
		}
		p, err := s.table.Find(pid)
		id = p.Identity
		return err == nil
	})
	s.t.Cleanup(func() { // one in the background does not end with its terminal
		if s.table.Alive(id) {
			_ = syscall.Kill(id.PID, syscall.SIGKILL)
		}
	})
	return id
}

func (s *screen) until(what string, ok func() bool) {
	s.t.Helper()
	eventually.True(s.t, what, ok)
}

// activate gives a terminal's window the focus.
func (s *screen) activate(terminal *exec.Cmd) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "xdotool", "search", "--sync", "--onlyvisible", "--pid", strconv.Itoa(terminal.Process.Pid), "windowraise", "windowfocus")
	cmd.Env = s.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("activate: %v: %s", err, out)
	}
}

// wants waits until the agents have these states.
func (s *screen) wants(what string, want map[proc.Identity]focus.State) {
	s.t.Helper()
	var got focus.State
	for id, state := range want {
		if !eventually.Happens(func() bool { got = s.finder.HasFocus(s.t.Context(), id); return got == state }) {
			s.t.Fatalf("%s: process %d has state %d, not %d", what, id.PID, got, state)
		}
	}
}

func TestTwoTerminals(t *testing.T) {
	t.Parallel()
	s := newScreen(t)
	one := s.run("xterm", "-e", "sh", "-c", s.agent("one"))
	two := s.run("xterm", "-e", "sh", "-c", s.agent("two"))
	a, b := s.identity("one"), s.identity("two")
	s.finder.Remember([]proc.Identity{a, b})
	s.activate(one)
	s.wants("the first is active", map[proc.Identity]focus.State{a: focus.Focused, b: focus.Elsewhere})
	s.activate(two)
	s.wants("the second is active", map[proc.Identity]focus.State{a: focus.Elsewhere, b: focus.Focused})

	// An agent that ended in the terminal that has the focus.
	must.Do(t, syscall.Kill(b.PID, syscall.SIGKILL))
	s.until("its end", func() bool { return !s.table.Alive(b) })
	s.wants("its terminal is still there", map[proc.Identity]focus.State{b: focus.Focused})
	if got := s.finder.HasFocus(t.Context(), proc.Identity{PID: a.PID, Start: a.Start + 1, Boot: a.Boot}); got != focus.Unknown {
		t.Errorf("the state of a process that is not there: %d", got)
	}
}

// TestBackground: an agent in the background is not shown by the terminal from which it was started.
func TestBackground(t *testing.T) {
	t.Parallel()
	s := newScreen(t)
	one := s.run("xterm", "-e", "sh", "-c", "setsid sh -c 'echo $$ >"+s.file("back")+"; exec sleep 1000' & "+s.agent("one"))
	a, b := s.identity("one"), s.identity("back")
	s.activate(one)
	s.wants("active", map[proc.Identity]focus.State{a: focus.Focused, b: focus.Unknown})
}

// TestStaleTmux: a variable that was inherited from another terminal does not count.
func TestStaleTmux(t *testing.T) {
	t.Parallel()
	s := newScreen(t)
	one := s.run("env", "TMUX=/nowhere,1,0", "xterm", "-e", "env", "TMUX=/nowhere,1,0", "sh", "-c", s.agent("one"))
	a := s.identity("one")
	s.activate(one)
	s.wants("active", map[proc.Identity]focus.State{a: focus.Focused})
}

func TestTmux(t *testing.T) {
	t.Parallel()
	s := newScreen(t)
	socket := s.file("tmux.sock")
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
		cmd.Env = s.env()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	tmux("new-session", "-d", "-s", "work", "sh", "-c", s.agent("left"))
	t.Cleanup(func() {
		cmd := exec.Command("tmux", "-S", socket, "kill-server")
		cmd.Env = s.env()
		_ = cmd.Run()
	})
	tmux("split-window", "-t", "work", "sh", "-c", s.agent("right"))
	tmux("new-session", "-d", "-s", "detached", "sh", "-c", s.agent("alone"))
	left := s.identity("left")
	right := s.identity("right")
	alone := s.identity("alone")
	none := map[proc.Identity]focus.State{left: focus.Elsewhere, right: focus.Elsewhere, alone: focus.Elsewhere}
	other := s.run("xterm", "-e", "sh", "-c", s.agent("other"))
	s.identity("other")
	s.activate(other)
	s.wants("nobody is attached", none)

	terminal := s.run("xterm", "-e", "tmux", "-S", socket, "attach", "-t", "work")
	s.activate(terminal)
	s.wants("the right pane", map[proc.Identity]focus.State{left: focus.Elsewhere, right: focus.Focused, alone: focus.Elsewhere})
	tmux("select-pane", "-t", "work:0.0")
	s.wants("the left pane", map[proc.Identity]focus.State{left: focus.Focused, right: focus.Elsewhere, alone: focus.Elsewhere})
	tmux("switch-client", "-c", tmux("list-clients", "-F", "#{client_tty}"), "-t", "detached")
	s.wants("another session", map[proc.Identity]focus.State{left: focus.Elsewhere, right: focus.Elsewhere, alone: focus.Focused})
	s.activate(other)
	s.wants("another window", none)
}

// TestNoServer: without an X server nothing is known, and it is tried again.
func TestNoServer(t *testing.T) {
	x := desktop.OnX11(":987")
	p := must.Get(proc.Open().Find(os.Getpid()))(t)
	for range 2 {
		if got := focus.New(proc.Open(), x).HasFocus(t.Context(), p.Identity); got != focus.Unknown {
			t.Errorf("state %d", got)
		}
	}
	if got := focus.New(proc.Open(), nil).HasFocus(t.Context(), p.Identity); got != focus.Unknown {
		t.Errorf("state %d without a desktop", got)
	}
}
