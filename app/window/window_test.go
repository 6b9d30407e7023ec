//go:build !headless && linux

package window

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/self/instance"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/app/ui"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// roleVariable makes the test binary play the window process.
const roleVariable = "ROLLCALL_WINDOW_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "window" {
		windowProcess()
	}
	os.Exit(m.Run())
}

// windowProcess is what main does for "rollcall window", with made-up sessions.
func windowProcess() {
	if os.Getenv(walkVariable) != "" {
		log.SetOutput(complaints{})
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	i, err := instance.Claim(instance.Window, slog.Default())
	if errors.Is(err, instance.ErrRunning) {
		err = instance.Send(instance.Window, instance.Message{Verb: instance.Show, Session: "made-up-2"})
	} else if err == nil {
		c := &core{}
		var shown Core = c
		o := Options{Instance: i, Content: ui.Options{Days: 7, Answers: answer.New(c, func() settings.Answering { return settings.AnswerAll })}}
		switch {
		case os.Getenv(askingVariable) != "":
			c.agent = newAskingAgent(c)
			o.Content.Agents, o.Content.Answers = []adapters.Adapter{c.agent}, answer.New(c.agent, func() settings.Answering { return settings.AnswerAll })
			o.Open.Verb = instance.Queue
		case os.Getenv(walkVariable) != "":
			shown, o.Content = walkOptions()
			if os.Getenv(introduceVariable) != "" {
				o.Open.Verb = instance.Show
			}
		}
		err = Run(ctx, shown, o)
		_ = i.Close()
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rollcall:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// complaints writes what Fyne logs to standard error, with the calls that led to it.
type complaints struct{}

func (complaints) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Fyne error")) {
		line = slices.Concat(line, debug.Stack())
	}
	return os.Stderr.Write(line)
}

// Fyne 2.8.1 runs what is to be done when the application has stopped on a queue that it closes at the same time.
func TestNothingIsDoneWhenStopped(t *testing.T) {
	l, ok := newApp().Lifecycle().(interface{ OnStopped() func() })
	if !ok {
		t.Fatal("Fyne's lifecycle has no OnStopped any more: is newApp still right?")
	}
	if l.OnStopped() != nil {
		t.Error("something is done when the application has stopped")
	}
}

// core tells on stdout what the window asks of it.
type core struct {
	ui.Core // for the methods that no test calls
	mu      sync.Mutex
	subs    []func(*app.Snapshot)
	agent   *askingAgent // nil: nothing is asked
	current *app.Snapshot
}

func (c *core) Adapter(adapters.Name) adapters.Adapter { return nil }

func (c *core) CountsLeftBehind(context.Context) (app.LeftCounts, []adapters.Name, error) {
	return nil, nil, nil
}

func (c *core) RequestAgentRefresh(adapters.Name) {}

func (c *core) Current(context.Context, adapters.Name, string) (app.Session, error) {
	return app.Session{}, app.ErrNoSession
}

func (c *core) RefreshOne(context.Context, adapters.Name, ...string) *app.Snapshot {
	return c.Snapshot()
}

func (c *core) Follow(context.Context, app.Session, func()) {}

func (c *core) Peek(context.Context, app.Session, int) ([]adapters.Message, error) {
	return nil, app.ErrNoPeek
}

// publish shows a snapshot.
func (c *core) publish(s *app.Snapshot) {
	c.mu.Lock()
	c.current = s
	subs := slices.Clone(c.subs)
	c.mu.Unlock()
	for _, f := range subs {
		f(s)
	}
}

func (c *core) Snapshot() *app.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		return &app.Snapshot{}
	}
	return c.current
}

func (c *core) Refresh(context.Context) *app.Snapshot {
	fmt.Println("refreshed")
	return c.Snapshot()
}

func (c *core) Subscribe(f func(*app.Snapshot)) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subs = append(c.subs, f)
	return func() {}
}

func (c *core) Run(ctx context.Context) error {
	s := &app.Snapshot{At: time.Now(), Generation: 1, Adapters: []app.Health{{Name: agentname.ClaudeCode, State: app.OK}}}
	for i, st := range []adapters.Status{adapters.Waiting, adapters.Working, adapters.Idle, adapters.Stopped} {
		s.Own = append(s.Sessions(), app.Session{Session: adapters.Session{
			ID: fmt.Sprintf("made-up-%d", i), Agent: agentname.ClaudeCode,
			State: adapters.State{Status: st, Evidence: "made up"},
			Place: adapters.Place{CWD: "/home/dev/projects/rollcall", Branch: "main"},
			Topic: adapters.Topic{Title: fmt.Sprintf("Fix flaky test number %d", i)},
			Times: adapters.Times{LastActivityAt: time.Now().Add(-time.Duration(i) * time.Minute)},
		}})
	}
	if c.agent != nil {
		s = c.agent.snapshot()
	}
	c.publish(s)
	fmt.Println("running")
	<-ctx.Done()
	return ctx.Err()
}

func TestNoDisplay(t *testing.T) {
	home := t.TempDir()
	for name, c := range map[string]struct{ env, want string }{
		"none":   {"X=", "no display (DISPLAY and WAYLAND_DISPLAY are not set)"},
		"absent": {"DISPLAY=:4711", "the display could not be opened"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = []string{roleVariable + "=window", "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "GORACE=atexit_sleep_ms=0", c.env}
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("ended with %v, want exit code 1", err)
			}
			if !strings.Contains(string(out), c.want) || strings.Contains(string(out), "goroutine ") {
				t.Errorf("said %q, want %q", out, c.want)
			}
		})
	}
}

func TestSizeFile(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	path := filepath.Join(state, "rollcall", store.Window)
	if got, first := lastSize(); got != defaultSize || !first {
		t.Errorf("without a file: %v", got)
	}
	must.Do(t, storeSize(fyne.NewSize(900, 600)))
	if got, first := lastSize(); got != fyne.NewSize(900, 600) || first {
		t.Errorf("got %v back", got)
	}
	for text, want := range map[string]fyne.Size{
		`{"width":1,"height":1e9}`: fyne.NewSize(leastSize.Width, mostSize.Height), `{`: defaultSize, "": defaultSize,
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if got, first := lastSize(); got != want || first {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if aside, _ := filepath.Glob(path + ".damaged-*"); len(aside) != 2 {
		t.Errorf("set aside: %v", aside)
	}
	if left, _ := filepath.Glob(filepath.Join(state, "rollcall", "*.tmp-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
