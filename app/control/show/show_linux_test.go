package show_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/show"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/proc/desktop"
)

// agent is an agent whose sessions can be taken into a terminal.
type agent struct{ attach error }

func (agent) Name() adapters.Name { return "agent" }
func (agent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{}, adapters.ErrAbsent
}
func (agent) Program(func(string) (string, error)) (string, error) { return "/opt/my agent/bin", nil }
func (agent) Modes() []adapters.Mode                               { return nil }
func (agent) Command(string, adapters.Task) (adapters.Command, error) {
	return adapters.Command{}, nil
}
func (a agent) Attach(_ context.Context, program string, s adapters.Session) (adapters.Command, error) {
	return adapters.Command{Path: program, Args: []string{"attach", s.ID}}, a.attach
}

// core has sessions by their ids.
type core struct {
	agent    adapters.Adapter
	sessions map[string]app.Session
}

func (c *core) Adapter(adapters.Name) adapters.Adapter { return c.agent }
func (c *core) Current(_ context.Context, _ adapters.Name, id string) (app.Session, error) {
	s, ok := c.sessions[id]
	if !ok {
		return s, fmt.Errorf("%w: %s", app.ErrNoSession, id)
	}
	return s, nil
}

func session(id string, change func(*app.Session)) app.Session {
	s := app.Session{Session: adapters.Session{
		ID: id, Agent: "agent",
		State: adapters.State{Status: adapters.Idle},
		Owner: adapters.Owner{Process: proc.Self()},
		Place: adapters.Place{CWD: "/work"},
	}}
	change(&s)
	return s
}

// TestNotShown: why there is no terminal, and what is offered instead.
func TestNotShown(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("SWAYSOCK", "")
	c := &core{agent: agent{}, sessions: map[string]app.Session{}}
	attach := "attach: '/opt/my agent/bin' attach "
	for id, tt := range map[string]struct {
		change func(*app.Session)
		note   string
		offers []string
	}{
		"machine": {func(s *app.Session) { s.Machine, s.Remote = "box", "box" }, "it runs on box", []string{"attach: rollcall focus machine"}},
		"gateway": {func(s *app.Session) { s.Remote = "gate" }, "it runs on gate, without its own terminal", nil},
		"stopped": {func(s *app.Session) { s.Status, s.Process = adapters.Stopped, proc.Identity{} }, "it has stopped", []string{"resume: rollcall resume stopped --terminal", "folder: "}},
		"unknown": {func(s *app.Session) { s.Process = proc.Identity{} }, "its process is not known", []string{attach + "unknown", "folder: "}},
		"closed":  {func(s *app.Session) { s.Unattended = true }, "its terminal was closed, and it goes on in the background", []string{attach + "closed", "folder: "}},
		"reused":  {func(s *app.Session) { s.Process.Start++ }, "its process has ended", []string{attach + "reused", "folder: "}},
	} {
		c.sessions[id] = session(id, tt.change)
		p, err := show.New(c, proc.Open(), nil).Show(t.Context(), "agent", id)
		var not *show.NotShownError
		if !errors.As(err, &not) || p.Note != tt.note || not.Error() != "its terminal can't be shown: "+tt.note {
			t.Errorf("%s: %v, %+v", id, err, p)
			continue
		}
		var offers []string
		for i := range p.Offers {
			offers = append(offers, string(p.Offers[i].Kind)+": "+p.Offers[i].Shell())
		}
		if !slices.Equal(offers, tt.offers) {
			t.Errorf("%s: offers %q, want %q", id, offers, tt.offers)
		}
	}
	c.agent = agent{adapters.ErrNoAttach}
	if p, _ := show.New(c, proc.Open(), nil).Plan(t.Context(), "agent", "unknown"); len(p.Offers) != 1 || p.Offers[0].Kind != show.OfferFolder {
		t.Errorf("an agent that can't: %+v", p.Offers)
	}
	if _, err := show.New(c, proc.Open(), nil).Show(t.Context(), "agent", "none"); !errors.Is(err, app.ErrNoSession) {
		t.Errorf("no session: %v", err)
	}
}

// TestShown raises the terminal of a session, and that of another process that shows it.
func TestShown(t *testing.T) {
	must.Have(t, "xterm")
	screen := desktoptest.For(t, desktoptest.Options{})
	t.Setenv("DISPLAY", screen.Display())
	t.Setenv("SWAYSOCK", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	file := filepath.Join(t.TempDir(), "pid")
	xterm := exec.Command("xterm", "-e", "sh", "-c", "sleep 1000 & echo $! >"+file+".new; mv "+file+".new "+file+"; wait")
	xterm.Env = screen.Env()
	xterm.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(t, xterm.Start())
	defer func() {
		_ = xterm.Process.Kill()
		_ = xterm.Wait()
	}()
	var x proc.Process
	eventually.Nil(t, "the agent", func() error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		x, err = proc.Open().Find(pid)
		return err
	})
	x11 := desktop.OnX11(screen.Display())
	eventually.True(t, "the window manager to list the window", func() bool {
		list := must.Get(x11.Windows(t.Context()))(t)
		return len(list) > 0
	})
	daemon := session("daemon", func(s *app.Session) { s.Shared, s.Terminal = true, x.Identity })
	c := &core{agent: agent{}, sessions: map[string]app.Session{"own": session("own", func(s *app.Session) { s.Process = x.Identity }), "daemon": daemon}}
	for id := range c.sessions {
		p, err := show.New(c, proc.Open(), nil).Show(t.Context(), "agent", id)
		if err != nil || !p.Seen || len(p.Steps) != 1 || len(p.Offers) != 0 || p.Steps[0].Text != fmt.Sprintf("raise the window of xterm (process %d)", xterm.Process.Pid) {
			t.Errorf("%s: %+v, %v", id, p, err)
		}
	}
}

// TestHungXServer: an X server that never answers is asked over one connection, however often the user tries.
func TestHungXServer(t *testing.T) {
	display := filepath.Join(t.TempDir(), "x:0")
	server := must.Get(net.Listen("unix", display))(t)
	defer server.Close()
	asked := make(chan net.Conn, 10)
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			asked <- conn
		}
	}()
	t.Setenv("DISPLAY", display)
	t.Setenv("SWAYSOCK", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	s := show.New(&core{agent: agent{}}, proc.Open(), nil)
	plan := func() {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		s.PlanOf(ctx, session("own", func(*app.Session) {}))
	}
	eventually.True(t, "a connection", func() bool { plan(); return len(asked) > 0 })
	conn := <-asked
	defer conn.Close()
	for range 3 {
		plan()
	}
	if n := len(asked); n > 0 {
		t.Errorf("%d more connections", n)
	}
}

// notInPath is an agent whose program is not in PATH.
type notInPath struct{ agent }

func (notInPath) Program(func(string) (string, error)) (string, error) {
	return "", errors.New("not installed")
}

// registerPrograms registers two agents, once: a test that runs again would register them again.
var registerPrograms = sync.OnceFunc(func() {
	adapters.Register(adapters.Description{Name: "running", Title: "Running", Short: "r", Program: filepath.Base(os.Args[0]), Install: "-", Folders: []string{".agent"}, Processes: []string{"running"}}, agent{})
	adapters.Register(adapters.Description{Name: "script", Title: "Script", Short: "s", Program: "script", Install: "-", Folders: []string{".agent"}, Processes: []string{"script"}}, agent{})
})

// TestProgramNotInPath: a session whose own process is the agent's program is attached to with that program.
func TestProgramNotInPath(t *testing.T) {
	exe := must.Get(os.Executable())(t)
	registerPrograms()
	for name, want := range map[adapters.Name]string{"running": exe, "script": ""} {
		x := session("a", func(s *app.Session) { s.Agent, s.Unattended = name, true })
		p := show.New(&core{agent: notInPath{}}, proc.Open(), nil).PlanOf(t.Context(), x)
		got := ""
		if p.Offers[0].Kind == show.OfferAttach {
			got = p.Offers[0].Command[0]
		}
		if got != want {
			t.Errorf("%s: attach with %q, want %q", name, got, want)
		}
	}
}
