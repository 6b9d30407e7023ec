package launch

import (
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
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/must"
	"rollcall/proc"
)

// insideVariable says that the test runs as process 1 of its own process table.
const insideVariable = "ROLLCALL_LAUNCH_TEST_INSIDE"

// TestStressPIDReuse gives the pids of processes that have ended to others, in a
// process table where the next pid can be chosen: neither records and locks, nor
// stops, hooks and sweeps take the newcomer for the one before.
func TestStressPIDReuse(t *testing.T) {
	if os.Getenv(insideVariable) == "" {
		runInside(t)
		return
	}
	must.Do(t, errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("proc", "/proc", "proc", 0, "")))
	for i := range stress(2, 10) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Run("agent", reusedAgent)
			t.Run("agent, with a tray", reusedWithTray)
			t.Run("wrapper", reusedWrapper)
			t.Run("starter", reusedStarter)
			t.Run("stop", reusedStop)
		})
	}
}

func runInside(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can open a pid namespace without a user namespace")
	}
	apart := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	probe := exec.Command("true")
	probe.SysProcAttr = apart
	if err := probe.Run(); errors.Is(err, syscall.EPERM) {
		t.Skipf("pid namespaces are not permitted here: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStressPIDReuse$", "-test.v")
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.SysProcAttr = apart
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "--- PASS") < stress(2, 10)*6 {
		t.Errorf("%v\n%s", err, out)
	}
}

// newcomer returns a process with that pid and with a child, in a session of its own,
// so that both look as if a launch had begun them.
func newcomer(t *testing.T, pid int) *exec.Cmd {
	t.Helper()
	time.Sleep(20 * time.Millisecond) // two clock ticks, so that the new process has another start time
	for range 100 {
		must.Do(t, os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0))
		c := exec.Command("/bin/sh", "-c", "sleep 60 & wait")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		must.Do(t, c.Start())
		end := func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL); _ = c.Wait() }
		if c.Process.Pid == pid {
			t.Cleanup(end)
			return c
		}
		end()
	}
	t.Fatalf("pid %d was never given", pid)
	return nil
}

// replaced ends the process of a launch, waits until it is reaped, and gives its
// pid to another.
func (s *stage) replaced(id proc.Identity, ended <-chan struct{}) *exec.Cmd {
	s.t.Helper()
	s.signal(id, proc.Kill)
	<-ended
	c := newcomer(s.t, id.PID)
	if s.table.Alive(id) {
		s.t.Fatalf("%v is reported as alive", id)
	}
	return c
}

// launched starts the agent, and says when its first process was reaped.
func (s *stage) launched(change func(*Request)) (Record, <-chan struct{}) {
	s.t.Helper()
	got, err := s.Start(s.t.Context(), s.plan(change), nil)
	if err != nil || got.Warnings != nil {
		s.t.Fatal(err, got)
	}
	ended := make(chan struct{})
	go func() { _, _ = got.Child.Wait(); close(ended) }()
	s.until("the agent", func() bool {
		names, _ := os.ReadDir(s.store)
		return slices.ContainsFunc(names, func(e os.DirEntry) bool { return !strings.Contains(e.Name(), ".") })
	})
	r := got.Record
	r.Process = got.Child.Identity // a tray may have found the agent behind it already
	return r, ended
}

// checkUntouched checks that the new process runs, and that its folder is not locked.
func (s *stage) checkUntouched(c *exec.Cmd) {
	s.t.Helper()
	if locks, err := s.locks.List(); err != nil || len(locks) != 0 {
		s.t.Errorf("locks %+v, %v", locks, err)
	}
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	if err != nil || strings.Contains(string(state), ") Z ") {
		s.t.Errorf("the newcomer was ended: %s, %v", state, err)
	}
}

// Nobody looked when the agent ended and another process got its pid.
func reusedAgent(t *testing.T) {
	s := newStage(t, &fake{})
	r, ended := s.launched(nil)
	c := s.replaced(r.Process, ended)
	more, _ := s.Complete(s.Name(), nil)
	if len(more) != 1 || more[0].Status != adapters.Stopped {
		t.Errorf("it is listed: %+v", more)
	}
	if successor, ok := s.survivor(&r); ok {
		t.Errorf("%v is taken for the agent behind it", successor)
	}
	if s.matches(&r, &adapters.Session{ID: "other", Agent: r.Agent, State: adapters.State{Status: adapters.Working}, Owner: adapters.Owner{Process: s.identity(c)}}) {
		t.Error("a session of the newcomer is taken for that of the launch")
	}
	again, ended := s.launched(nil) // the folder is free
	swept, err := s.Sweep(t.Context(), func(r Record) (proc.Identity, bool) { return s.survivor(&r) })
	if err != nil || len(swept.Ended) != 1 || swept.Ended[0].ID != r.ID {
		t.Errorf("swept %+v, %v", swept, err)
	}
	s.signal(again.Process, proc.Kill)
	<-ended
	s.checkUntouched(c)
}

func (s *stage) identity(c *exec.Cmd) proc.Identity {
	s.t.Helper()
	p := must.Get(s.table.Find(c.Process.Pid))(s.t)
	return p.Identity
}

// A tray looks on: one end, one run of the hook.
func reusedWithTray(t *testing.T) {
	s := newStage(t, &fake{})
	tr := s.tray()
	mark := filepath.Join(t.TempDir(), "hook")
	r, ended := s.launched(func(r *Request) { r.Hooks = []Hook{{When: OnComplete, Command: "echo x >>" + mark}} })
	s.until("the session", func() bool { return s.only().Seen })
	tr.ends()
	c := s.replaced(r.Process, ended)
	s.until("the end and its hook", func() bool { x := s.only(); return x.Ended() && x.Hooks[0].Result != "" })
	reported := 0
	s.until("one end reported", func() bool { reported += tr.ends(); return reported > 0 })
	for range 3 {
		tr.core.Refresh(t.Context())
	}
	reported += tr.ends()
	if reported != 1 {
		t.Errorf("%d ends reported", reported)
	}
	if text, err := os.ReadFile(mark); string(text) != "x\n" {
		t.Errorf("the hook said %q, %v", text, err)
	}
	s.checkUntouched(c)
}

// The pid of a dead wrapper belongs to another: the launch is the agent's all the
// same, and ends with that.
func reusedWrapper(t *testing.T) {
	s := newStage(t, &fake{wrapper: []string{"/bin/sh", "-c", `exec 3<&0; setsid "$0" "$@" <&3 & wait`}})
	tr := s.tray()
	r, ended := s.launched(nil)
	s.until("the session", func() bool { return s.only().Seen })
	agent := s.only().Process
	tr.ends()
	c := s.replaced(r.Process, ended)
	tr.core.Refresh(t.Context())
	tr.core.Refresh(t.Context())
	if x := s.only(); x.Ended() || x.Process != agent || tr.ends() != 0 {
		t.Errorf("after the wrapper's end: %+v", x)
	}
	s.until("the lock of the agent", func() bool { l, _ := s.locks.List(); return len(l) == 1 && l[0].Owner == agent })
	s.signal(agent, proc.Kill)
	if _, err := unix.Wait4(agent.PID, nil, 0, nil); err != nil { // orphaned, so it is ours to reap
		t.Error(err)
	}
	s.until("the end", func() bool { x := s.only(); return x.Ended() })
	s.until("the free folder", func() bool { l, _ := s.locks.List(); return len(l) == 0 })
	s.checkUntouched(c)
}

// A start that was cut short does not go on because its pid lives.
func reusedStarter(t *testing.T) {
	s := newStage(t, &fake{})
	starter := exec.Command("/bin/sh", "-c", "sleep 60")
	must.Do(t, starter.Start())
	id := s.identity(starter)
	r := Record{ID: "l-1", Agent: s.Name(), Dir: s.dir, Starter: id, LaunchedAt: time.Now()}
	k := lockOf(&r)
	k.Owner = id
	if _, err := s.locks.Take(t.Context(), k, false, nil); err != nil {
		t.Fatal(err)
	}
	must.Do(t, s.records.Write(r.ID, r))
	if swept, err := s.Sweep(t.Context(), nil); err != nil || len(swept.Ended)+len(swept.Locks) != 0 {
		t.Fatalf("while it lived: swept %+v, %v", swept, err)
	}
	_ = starter.Process.Kill()
	_ = starter.Wait()
	c := newcomer(t, id.PID)
	if swept, err := s.Sweep(t.Context(), nil); err != nil || len(swept.Ended) != 1 {
		t.Errorf("swept %+v, %v", swept, err)
	}
	s.checkUntouched(c)
}

// A stop that was planned for a process never reaches the one that has its pid.
func reusedStop(t *testing.T) {
	s := newStage(t, &fake{})
	core := app.New(app.Config{Adapters: []adapters.Adapter{s.fake}, Table: s.table, Launches: s.Launches})
	r, ended := s.launched(nil)
	sessions := core.Refresh(t.Context()).Sessions()
	if len(sessions) != 1 || sessions[0].Process != r.Process {
		t.Fatalf("listed %+v", sessions)
	}
	plan := must.Get(core.PlanStop(t.Context(), sessions[0]))(t)
	c := s.replaced(r.Process, ended)
	if result, err := core.Stop(t.Context(), plan, nil); !errors.Is(err, app.ErrNotRunning) {
		t.Errorf("stopped %+v, %v", result, err)
	}
	if _, err := core.PlanStop(t.Context(), sessions[0]); !errors.Is(err, app.ErrNotRunning) {
		t.Errorf("planned once more: %v", err)
	}
	s.checkUntouched(c)
}
