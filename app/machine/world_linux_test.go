package machine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/internal/namespaces"
	"rollcall/internal/sshtest"
)

const (
	stageKey      = "ROLLCALL_MACHINE_TEST_STAGE"
	workKey       = "ROLLCALL_MACHINE_TEST_WORK"
	asInit        = "init"
	asTest        = "test"
	insideProgram = "/tmp/bin/rollcall" // inside
)

func TestMain(m *testing.M) {
	if os.Getenv(stageKey) == asInit {
		namespaces.Main(os.Getenv(workKey), stageKey+"="+asTest, sshtest.Prepare)
	}
	_ = flag.Set("test.parallel", "4") // the tests wait most of the time, each in a world of its own; the flag exists
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

var built string // the folder of the program

// build builds the static program.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "rollcall-machine-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "rollcall")
	cmd := exec.Command("go", "build", "-tags", "headless,netgo,osusergo", "-ldflags", "-X main.version=1.2.3", "-o", path, "rollcall")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// inside runs the test again in namespaces of its own, beside other tests, and reports whether it is there.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(stageKey) == asTest {
		return true
	}
	sshtest.Require(t)
	t.Parallel()
	path := must.Get(build())(t)
	work := t.TempDir()
	data, err := os.ReadFile(path)
	if err == nil {
		err = errors.Join(os.Mkdir(filepath.Join(work, "bin"), 0o755), os.WriteFile(filepath.Join(work, "bin", "rollcall"), data, 0o755))
	}
	must.Do(t, err)
	namespaces.Enter(t, stageKey+"="+asInit, workKey+"="+work, "HOME=/tmp/here")
	return false
}

// box is another machine: a home and processes of its own behind a real ssh server.
type box struct {
	*scene.Environment
	*sshtest.Server
	claude scene.Agent
}

// newBox makes a machine that the client knows as name, with Rollcall in a folder.
func newBox(t *testing.T, c *sshtest.Client, name, program string) *box {
	t.Helper()
	w := scene.New(t)
	s := c.Start(sshtest.Options{Env: env(w, program)})
	c.Add(name, s.Port, s.Key)
	b := &box{Environment: w, Server: s, claude: scene.ClaudeCode(w)}
	b.claude.Install()
	return b
}

// env is the environment of a machine's sessions.
func env(w *scene.Environment, program string) []string {
	return []string{"HOME=" + w.Home, "PATH=" + program + ":/usr/bin:/bin", "HOST_PROC=" + w.Procs.Root(), "HOST_ETC=" + w.Procs.Etc(), "XDG_RUNTIME_DIR=" + filepath.Join(w.Home, "run")}
}

// host returns the machine as Rollcall has it, with a heartbeat of a second.
func host(name string) *Host {
	return &Host{Machine: settings.Machine{Name: name, SSH: name}, Heartbeat: time.Second}
}

// screen collects what is shown of machines.
type screen struct {
	mu     sync.Mutex
	rolls  map[string]app.MachineRoll
	events []app.Event
	news   chan struct{}
}

func newScreen() *screen {
	return &screen{rolls: map[string]app.MachineRoll{}, news: make(chan struct{}, 1)}
}

func (s *screen) ShowMachine(r app.MachineRoll, evs []app.Event) {
	s.mu.Lock()
	s.rolls[r.Name] = r
	s.events = append(s.events, evs...)
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

func (s *screen) HideMachine(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rolls, name)
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// await waits until the machine is shown so.
func (s *screen) await(t *testing.T, name, what string, ok func(app.MachineRoll) bool) app.MachineRoll {
	t.Helper()
	limit := time.After(60 * time.Second)
	for {
		s.mu.Lock()
		r := s.rolls[name]
		s.mu.Unlock()
		if ok(r) {
			return r
		}
		select {
		case <-s.news:
		case <-limit:
			t.Fatalf("%s: not %s: %+v", name, what, r)
		}
	}
}

// ends returns the events of a kind.
func (s *screen) kinds(kind app.EventKind) (out []app.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// run follows the machines until the test ends.
func run(t *testing.T, hosts ...*Host) *screen {
	t.Helper()
	m := Of(hosts...)
	m.firstPause, m.maxPause = 100*time.Millisecond, time.Second
	s := newScreen()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Run(ctx, time.Hour, s)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return s
}

func isOK(r app.MachineRoll) bool { return r.State == app.OK }

func failedWith(text string) func(app.MachineRoll) bool {
	return func(r app.MachineRoll) bool {
		return r.State == app.Failed && strings.Contains(strings.Join(r.Problems, " "), text)
	}
}

func rowOf(r app.MachineRoll, id string) *app.Session {
	i := slices.IndexFunc(r.Sessions, func(s app.Session) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &r.Sessions[i]
}

// script makes a program for exec, which prints what a test wants.
func script(t *testing.T, text string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollcall")
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
	return []string{path}
}

// rollcall runs the program of this machine with a config.toml, and returns its output, messages and exit code.
func rollcall(t *testing.T, config string, args ...string) (out, errs string, code int) {
	t.Helper()
	folder := "/tmp/here/.config/rollcall"
	must.Do(t, errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(folder+"/config.toml", []byte(config), 0o600)))
	cmd := exec.Command(insideProgram, args...)
	cmd.Env = []string{"HOME=/tmp/here", "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=/tmp/here/run"}
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if exitCode(err) < 0 {
		t.Fatal(err)
	}
	return o.String(), e.String(), exitCode(err)
}
