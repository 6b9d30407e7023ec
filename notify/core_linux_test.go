package notify_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/notify"
	"rollcall/proc"
)

const roleVariable = "ROLLCALL_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "agent":
		time.Sleep(time.Hour) // until the test kills it
		return
	case "notifier":
		notifyUntilKilled()
		return
	}
	os.Exit(m.Run())
}

// agents is an adapter for processes of this test: each is one session in
// mid-turn, and after its end one that died.
type agents struct {
	table *proc.Table
	mu    sync.Mutex
	known []adapters.Session
}

func (a *agents) Name() adapters.Name { return agentname.ClaudeCode }

func (a *agents) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var roll adapters.Roll
	for _, s := range a.known {
		if !a.table.Alive(s.Process) {
			s.Status = adapters.Stopped
			s.Outcome = adapters.Died
			s.Process = proc.Identity{}
		}
		roll.Sessions = append(roll.Sessions, s)
	}
	return roll, nil
}

// begin starts a process with so many sessions, among other programs' children.
func (a *agents) begin(t *testing.T, run, sessions int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=agent")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p := must.Get(a.table.Find(cmd.Process.Pid))(t)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range sessions {
		a.known = append(a.known, adapters.Session{
			ID: fmt.Sprintf("s%d-%d", run, i), Agent: agentname.ClaudeCode,
			State: adapters.State{Status: adapters.Working, Evidence: "a test"},
			Owner: adapters.Owner{Process: p.Identity, Shared: sessions > 1},
			Place: adapters.Place{CWD: fmt.Sprintf("/w/run%d-%d", run, i)},
			Times: adapters.Times{StartedAt: p.Started.Add(-90 * time.Minute)},
		})
	}
	return cmd
}

// TestExitOfRealProcesses goes the whole way: process, exit watcher, core,
// notifier, bus, daemon.
func TestExitOfRealProcesses(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 20
	}
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	table := proc.Open()
	watcher := must.Get(proc.NewWatcher(table))(t)
	t.Cleanup(func() { watcher.Close() })
	a := &agents{table: table}
	core := app.New(app.Config{Adapters: []adapters.Adapter{a}, Table: table, Watch: watcher})
	events := core.Events()
	n := notify.New(notify.Options{Bus: d.BusAddress()})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _ = core.Run(ctx) })
	all.Go(func() { _ = n.Run(ctx, events) })
	t.Cleanup(func() { cancel(); all.Wait(); events.Close() })
	core.Refresh(t.Context())

	took := must.Get(d.MeasureNotifications(t.Context(), runs, eventually.Limit, func(run int) (time.Time, error) {
		cmd := a.begin(t, run, 1)
		core.RefreshOne(t.Context(), a.Name())
		at := time.Now()
		return at, cmd.Process.Kill()
	}))(t)
	t.Logf("kill of a process to Notify on the bus, %v", took)
	if p50 := took.Percentile(50); p50 > 10*time.Second {
		t.Errorf("p50 %v", p50)
	}

	shared := a.begin(t, runs, 3)
	core.RefreshOne(t.Context(), a.Name())
	must.Do(t, shared.Process.Kill())
	limit, stop := context.WithTimeout(t.Context(), eventually.Limit)
	defer stop()
	list := must.Get(d.WaitNotifications(limit, answered(runs+1)))(t)
	if last := list[runs]; last.Summary != "Claude Code ended with 3 sessions" {
		t.Errorf("said %q, %q", last.Summary, last.Body)
	}
	if first := list[0]; first.Summary != "Claude Code ended in run0-0" || first.Body != "Died in mid-turn, ran 1 h" {
		t.Errorf("said %q, %q", first.Summary, first.Body)
	}
	exactlyOnce(t, d.Notifications(), runs+1)
}
