package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

func init() {
	for _, r := range []string{"agent", "agent, terminate only", "agent, deaf"} {
		moreRoles[r] = func() int { return playAgent(r) }
	}
}

// actor is a process that plays an agent.
type actor struct {
	id    proc.Identity
	below []proc.Identity
	cmd   *exec.Cmd
}

// act starts this test binary in a role; with a tool, a child that outlives it.
func act(t *testing.T, table *proc.Table, role string) *actor {
	t.Helper()
	a := &actor{cmd: exec.Command(os.Args[0])}
	a.cmd.Env = append(os.Environ(), "ROLLCALL_TEST_ROLE="+role, "GORACE=atexit_sleep_ms=0")
	a.cmd.Stderr = os.Stderr
	out := must.Get(a.cmd.StdoutPipe())(t)
	must.Do(t, a.cmd.Start())
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		for _, id := range a.below {
			if h, err := table.Hold(id); err == nil {
				_ = h.Send(proc.Kill)
				h.Close()
			}
		}
		_ = a.cmd.Wait()
	})
	line := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
	for word := range strings.FieldsSeq(line) {
		var n int
		if _, err := fmt.Sscan(word, &n); err != nil {
			t.Fatal(err)
		}
		p := must.Get(table.Find(n))(t)
		a.below = append(a.below, p.Identity)
	}
	p := must.Get(table.Find(a.cmd.Process.Pid))(t)
	a.id = p.Identity
	return a
}

// playAgent is what an actor does: it ends on the signals that its role doesn't
// refuse, and leaves its tool running.
func playAgent(role string) int {
	tool := exec.Command("sleep", "60")
	if err := tool.Start(); err != nil {
		return 1
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	fmt.Println(tool.Process.Pid)
	for s := range signals {
		if role == "agent" || role == "agent, terminate only" && s == syscall.SIGTERM {
			return 0
		}
	}
	return 0
}

// gracefulAgent is an agent that ends best by an interrupt.
type gracefulAgent struct {
	*agent
	why error
}

func (p gracefulAgent) EndBy(adapters.Session) ([]proc.Signal, error) {
	return []proc.Signal{proc.Interrupt, proc.Terminate}, p.why
}

func asked(p *StopPlan) []proc.Signal {
	var out []proc.Signal
	for _, s := range p.Steps {
		out = append(out, s.Signal)
	}
	return out
}

func TestStop(t *testing.T) {
	table := proc.OpenAt("/proc", "/etc")
	for _, c := range []struct {
		role string
		by   []proc.Signal
	}{
		{"agent", []proc.Signal{proc.Interrupt}},
		{"agent, terminate only", []proc.Signal{proc.Interrupt, proc.Terminate}},
		{"agent, deaf", []proc.Signal{proc.Interrupt, proc.Terminate, proc.Kill}},
	} {
		t.Run(c.role, func(t *testing.T) {
			t.Parallel()
			x := act(t, table, c.role)
			a := gracefulAgent{agent: &agent{name: agentname.ClaudeCode}}
			s := on("a", adapters.Working, 0)
			s.Process = x.id
			a.says(nil, s)
			core := New(Config{Adapters: []adapters.Adapter{a}, Table: table})
			plan := must.Get(core.PlanStop(t.Context(), Session{Session: s}))(t)
			if plan.Process.Identity != x.id || len(plan.Tree) != 1 || plan.Tree[0].Identity != x.below[0] {
				t.Errorf("plan %+v; want process %v with %v below", plan, x.id, x.below)
			}
			if got, want := asked(plan), []proc.Signal{proc.Interrupt, proc.Terminate, proc.Kill}; !slices.Equal(got, want) {
				t.Errorf("plan %v, want %v", got, want)
			}
			for i := range plan.Steps {
				plan.Steps[i].Grace = min(plan.Steps[i].Grace, 300*time.Millisecond)
			}
			var sent []proc.Signal
			r := must.Get(core.Stop(t.Context(), plan, func(s StopStep) { sent = append(sent, s.Signal) }))(t)
			if !slices.Equal(sent, c.by) || r.By != c.by[len(c.by)-1] {
				t.Errorf("sent %v and ended by %v, want %v", sent, r.By, c.by)
			}
			if table.Alive(x.id) || table.Alive(x.below[0]) {
				t.Errorf("agent alive %t, its tool alive %t", table.Alive(x.id), table.Alive(x.below[0]))
			}
			if len(r.Rest) != 1 || r.Rest[0].Identity != x.below[0] {
				t.Errorf("left over %v, want the tool", r.Rest)
			}
			if _, err := core.Stop(t.Context(), plan, nil); !errors.Is(err, ErrNotRunning) {
				t.Errorf("a second stop: %v", err)
			}
		})
	}
}

// What must not be signalled isn't, and the message says why.
func TestStopRefused(t *testing.T) {
	table := proc.OpenAt("/proc", "/etc")
	x := act(t, table, "agent")
	mine := on("a", adapters.Working, 0)
	mine.Process = x.id
	for name, c := range map[string]struct {
		change func(*adapters.Session)
		why    error // of EndBy
		want   error
		says   string
	}{
		"stopped":    {func(s *adapters.Session) { s.Status, s.Process = adapters.Stopped, proc.Identity{} }, nil, ErrNotRunning, ""},
		"sub-agent":  {func(s *adapters.Session) { s.Parent = "mother" }, nil, ErrCannotStop, "stop that session"},
		"shared":     {func(s *adapters.Session) { s.Shared = true }, nil, ErrCannotStop, "hosts other sessions"},
		"remote":     {func(s *adapters.Session) { s.Remote = "office" }, nil, ErrCannotStop, "runs on office"},
		"no process": {func(s *adapters.Session) { s.Status, s.Process = adapters.Unknown, proc.Identity{} }, nil, ErrCannotStop, "its process is not known"},
		"gone":       {func(s *adapters.Session) { s.Process.Start-- }, nil, ErrNotRunning, ""},
		"own way":    {func(*adapters.Session) {}, errors.New("use claude stop a"), ErrCannotStop, "use claude stop a"},
	} {
		t.Run(name, func(t *testing.T) {
			a := gracefulAgent{agent: &agent{name: agentname.ClaudeCode}, why: c.why}
			a.says(nil, changed(mine, c.change))
			core := New(Config{Adapters: []adapters.Adapter{a}, Table: table})
			_, err := core.PlanStop(t.Context(), Session{Session: mine})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %v with %q", err, c.want, c.says)
			}
		})
	}
	a := &agent{name: agentname.ClaudeCode}
	core := New(Config{Adapters: []adapters.Adapter{a}, Table: table})
	if _, err := core.PlanStop(t.Context(), Session{Session: mine}); !errors.Is(err, ErrNoSession) {
		t.Errorf("not listed: %v", err)
	}
	a.says(adapters.Unreadable("/x", os.ErrPermission))
	if _, err := core.PlanStop(t.Context(), Session{Session: mine}); !errors.Is(err, ErrCannotStop) || !strings.Contains(err.Error(), "/x") {
		t.Errorf("its agent fails: %v", err)
	}
	if !table.Alive(x.id) {
		t.Error("it was stopped all the same")
	}
}

// Between the plan and the stop the session moved to another process: nothing
// is signalled.
func TestStopOfMoved(t *testing.T) {
	table := proc.OpenAt("/proc", "/etc")
	first, second := act(t, table, "agent"), act(t, table, "agent")
	a := &agent{name: agentname.ClaudeCode}
	s := on("a", adapters.Idle, 0)
	s.Process = first.id
	a.says(nil, s)
	core := New(Config{Adapters: []adapters.Adapter{a}, Table: table})
	plan := must.Get(core.PlanStop(t.Context(), Session{Session: s}))(t)
	s.Process = second.id
	a.says(nil, s)
	if _, err := core.Stop(t.Context(), plan, nil); !errors.Is(err, ErrMoved) {
		t.Errorf("stop: %v", err)
	}
	if !table.Alive(first.id) || !table.Alive(second.id) {
		t.Error("one of them was signalled")
	}
}

// gate is an agent on a gateway, which can be asked to stop.
type gate struct {
	*agent
	stopped []string
	err     error
}

func (g *gate) Stop(_ context.Context, s adapters.Session) error {
	g.stopped = append(g.stopped, s.ID)
	return g.err
}

func TestStopThroughGateway(t *testing.T) {
	g := &gate{agent: &agent{name: agentname.OpenClaw}}
	s := adapters.Session{
		ID: "a", Agent: agentname.OpenClaw,
		State: adapters.State{Status: adapters.Working, Evidence: "it says so"},
		Place: adapters.Place{Remote: "office"},
	}
	g.says(nil, s)
	core := New(Config{Adapters: []adapters.Adapter{g}, Table: newMachine()})
	plan := must.Get(core.PlanStop(t.Context(), Session{Session: s}))(t)
	if plan.Through != "office" || plan.Steps != nil {
		t.Errorf("plan %+v", plan)
	}
	if _, err := core.Stop(t.Context(), plan, nil); err != nil || !slices.Equal(g.stopped, []string{"a"}) {
		t.Errorf("stopped %v, %v", g.stopped, err)
	}
	g.err = errors.New("missing scope operator.write")
	if _, err := core.Stop(t.Context(), plan, nil); !errors.Is(err, g.err) {
		t.Errorf("refused: %v", err)
	}
}

// reached is a gate that reaches only some of its sessions.
type reached struct {
	*gate
	no error
}

func (r *reached) CanStop(context.Context, adapters.Session) error { return r.no }

// TestStopOfAnotherProgram: a session whose turn is over, or whose process can't be asked, is not stopped, and nothing is sent,
// also if that is so only once the plan is carried out.
func TestStopOfAnotherProgram(t *testing.T) {
	g := &reached{gate: &gate{agent: &agent{name: agentname.Codex}}}
	table := newMachine()
	table.start(pid(7))
	core := New(Config{Adapters: []adapters.Adapter{g}, Table: table})
	shared := func(status adapters.Status, host string) adapters.Session {
		return changed(on("a", status, 7), func(s *adapters.Session) {
			s.Agent = agentname.Codex
			s.Shared = true
			s.Host = host
		})
	}
	for _, c := range []struct {
		session adapters.Session
		no      error
		says    string
	}{
		{shared(adapters.Idle, "Zed"), nil, "it lives in Zed (process 7), and its turn is over"},
		{shared(adapters.Idle, ""), errors.New("it has no socket"), "(process 7): it has no socket"},
		{shared(adapters.Working, ""), errors.New("it has no socket"), "(process 7): it has no socket"},
	} {
		g.says(nil, c.session)
		g.no = c.no
		_, err := core.PlanStop(t.Context(), Session{Session: c.session})
		if !errors.Is(err, ErrCannotStop) || !strings.Contains(err.Error(), "can't be stopped from here: it lives in ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	g.no = nil
	g.says(nil, shared(adapters.Working, ""))
	plan := must.Get(core.PlanStop(t.Context(), Session{Session: shared(adapters.Working, "")}))(t)
	g.says(nil, shared(adapters.Idle, ""))
	if _, err := core.Stop(t.Context(), plan, nil); !errors.Is(err, ErrCannotStop) || g.stopped != nil {
		t.Errorf("its turn ended meanwhile: %v, stopped %q", err, g.stopped)
	}
}

// TestStopIdle: all idle sessions are planned, those that can't be stopped are named, and one that began to work
// since it was shown is left alone.
func TestStopIdle(t *testing.T) {
	table := proc.OpenAt("/proc", "/etc")
	x, y := act(t, table, "agent"), act(t, table, "agent")
	a := &agent{name: agentname.ClaudeCode}
	mine := on("mine", adapters.Idle, 0)
	gone := on("gone", adapters.Idle, 0)
	busy := on("busy", adapters.Working, 0)
	mine.Process, busy.Process = x.id, y.id
	a.says(nil, mine, gone, busy)
	core := New(Config{Adapters: []adapters.Adapter{a}, Table: table})
	var failed []string
	snap := &Snapshot{Own: []Session{{Session: mine}, {Session: gone}, {Session: busy}}}
	plans := core.PlanStopAllIdle(t.Context(), snap, func(s *Session, err error) { failed = append(failed, s.ID) })
	if len(plans) != 1 || plans[0].Session.ID != "mine" || !slices.Equal(failed, []string{"gone"}) {
		t.Fatalf("plans %+v, failed %v", plans, failed)
	}
	mine.Status = adapters.Working
	a.says(nil, mine)
	if _, err := core.PlanStopIdle(t.Context(), plans[0].Session); !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), "isn't idle any more (working)") {
		t.Errorf("a session that works by now: %v", err)
	}
	if plans := core.PlanStopAllIdle(t.Context(), snap, func(*Session, error) {}); len(plans) > 0 {
		t.Errorf("planned %+v", plans)
	}
}
