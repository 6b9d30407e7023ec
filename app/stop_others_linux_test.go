package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestStopWithOthers: what a stop would end beside its session is refused, or named and asked about, whatever agent or home it is of.
func TestStopWithOthers(t *testing.T) {
	table := proc.OpenAt("/proc", "/etc")
	x := act(t, table, "agent")
	mine := on("mine", adapters.Idle, 0)
	mine.Process = x.id
	other := func(agent adapters.Name, status adapters.Status, at proc.Identity, parent string) adapters.Session {
		return changed(on("other", status, 0), func(s *adapters.Session) {
			s.Agent = agent
			s.Process = at
			s.Parent = parent
		})
	}
	for name, c := range map[string]struct {
		other    adapters.Session
		stop     string // what PlanStop says; empty: it has a plan
		also     int
		stopIdle string // what PlanStopIdle says
	}{
		"below, of another agent":     {other(agentname.Codex, adapters.Working, x.below[0], ""), "runs below process", 0, "runs below process"},
		"below, idle":                 {other(agentname.ClaudeCode, adapters.Idle, x.below[0], ""), "runs below process", 0, "runs below process"},
		"the same process, works":     {other(agentname.Codex, adapters.Working, x.id, ""), "", 1, "is that of session"},
		"the same process, idle":      {other(agentname.ClaudeCode, adapters.Idle, x.id, ""), "", 1, "is that of session"},
		"its sub-agent, works":        {other(agentname.ClaudeCode, adapters.Working, x.below[0], "mine"), "", 1, "its sub-agent other"},
		"its sub-agent in it, works":  {other(agentname.ClaudeCode, adapters.Working, x.id, "mine"), "", 0, "its sub-agent other"},
		"its sub-agent in it, idle":   {other(agentname.ClaudeCode, adapters.Idle, x.id, "mine"), "", 0, ""},
		"another one's, in a process": {other(agentname.Codex, adapters.Working, proc.Self(), ""), "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			claude, codex := &agent{name: agentname.ClaudeCode}, &agent{name: agentname.Codex}
			says := func(with ...adapters.Session) {
				of := func(name adapters.Name) (list []adapters.Session) {
					for _, s := range append(with, mine) {
						if s.Agent == name {
							list = append(list, s)
						}
					}
					return list
				}
				claude.says(nil, of(agentname.ClaudeCode)...)
				codex.says(nil, of(agentname.Codex)...)
			}
			core := New(Config{Adapters: []adapters.Adapter{claude, codex}, Table: table})
			says()
			alone := must.Get(core.PlanStop(t.Context(), Session{Session: mine}))(t)
			aloneIdle := must.Get(core.PlanStopIdle(t.Context(), Session{Session: mine}))(t)
			if alone.AsksAgain() != "" || !strings.Contains(alone.Commands[x.id], alone.Process.Comm[:5]) {
				t.Errorf("asks %q, command %q", alone.AsksAgain(), alone.Commands[x.id])
			}
			says(c.other)
			plan, err := core.PlanStop(t.Context(), Session{Session: mine})
			refuses(t, "stop", err, c.stop)
			if c.stop == "" && (len(plan.Also) != c.also || (plan.AsksAgain() != "") != (c.also > 0)) {
				t.Errorf("ends %v, asks %q", plan.Also, plan.AsksAgain())
			}
			_, err = core.PlanStopIdle(t.Context(), Session{Session: mine})
			refuses(t, "stop --idle", err, c.stopIdle)
			for what, p := range map[string]*StopPlan{"stop": alone, "stop --idle": aloneIdle} { // the other came after the plan was made
				if what == "stop" && c.also == 0 && c.stop == "" || c.stopIdle == "" {
					continue
				}
				if _, err := core.Stop(t.Context(), p, func(StopStep) { t.Errorf("%s: signalled", what) }); !errors.Is(err, ErrCannotStop) && !errors.Is(err, ErrMoved) {
					t.Errorf("%s, planned before: %v", what, err)
				}
			}
			if !table.Alive(x.id) {
				t.Fatal("it was ended")
			}
		})
	}
}

func refuses(t *testing.T, what string, err error, says string) {
	t.Helper()
	if (err != nil) != (says != "") || err != nil && (!errors.Is(err, ErrCannotStop) || !strings.Contains(err.Error(), says)) {
		t.Errorf("%s: %v, want %q", what, err, says)
	}
}

// TestStopAllIdleOfSharedProcess: two sessions that name one process are both left alone.
func TestStopAllIdleOfSharedProcess(t *testing.T) {
	table := proc.OpenAt("/proc", "/etc")
	x := act(t, table, "agent")
	one, two := on("one", adapters.Idle, 0), on("two", adapters.Idle, 0)
	one.Process, two.Process = x.id, x.id
	a := &agent{name: agentname.ClaudeCode}
	a.says(nil, one, two)
	core := New(Config{Adapters: []adapters.Adapter{a}, Table: table})
	var failed []string
	plans := core.PlanStopAllIdle(t.Context(), &Snapshot{Own: []Session{{Session: one}, {Session: two}}}, func(s *Session, err error) { failed = append(failed, s.ID) })
	if len(plans) != 0 || !slices.Equal(failed, []string{"one", "two"}) {
		t.Errorf("plans %v, failed %v", plans, failed)
	}
}

// ownerOf is an agent of which some processes are.
type ownerOf struct {
	*agent
	owns func(proc.Process) bool
}

func (o ownerOf) OwnsProcess(p proc.Process) bool { return o.owns(p) }

// TestStopBesideAgentThatHangs: a plan waits for no agent of which none of its processes is; one of which a process may be is named, and stops no idle session.
func TestStopBesideAgentThatHangs(t *testing.T) {
	table := proc.OpenAt("/proc", "/etc")
	x := act(t, table, "agent")
	mine := on("mine", adapters.Idle, 0)
	mine.Process = x.id
	end := make(chan struct{})
	defer close(end)
	for name, c := range map[string]struct {
		owns    func(proc.Process) bool
		limit   time.Duration
		unasked []adapters.Name
		idle    string // what PlanStopIdle says
	}{
		"of another process": {func(proc.Process) bool { return false }, time.Hour, nil, ""},
		"of one below":       {func(p proc.Process) bool { return p.Identity == x.below[0] }, time.Second / 5, []adapters.Name{agentname.Codex}, "may be one of Codex"},
	} {
		t.Run(name, func(t *testing.T) {
			claude, codex := &agent{name: agentname.ClaudeCode}, &agent{name: agentname.Codex}
			claude.says(nil, mine)
			codex.hook(func(context.Context, adapters.Query) { <-end })
			core := New(Config{Adapters: []adapters.Adapter{claude, ownerOf{codex, c.owns}}, Table: table, Limit: c.limit})
			type answer struct {
				plan      *StopPlan
				err, idle error
			}
			made := make(chan answer, 1)
			go func() {
				var a answer
				a.plan, a.err = core.PlanStop(t.Context(), Session{Session: mine})
				_, a.idle = core.PlanStopIdle(t.Context(), Session{Session: mine})
				made <- a
			}()
			select {
			case a := <-made:
				refuses(t, "stop", a.err, "")
				refuses(t, "stop --idle", a.idle, c.idle)
				if a.plan != nil && !slices.Equal(a.plan.Unasked, c.unasked) {
					t.Errorf("could not ask %v, want %v", a.plan.Unasked, c.unasked)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("it waits for the agent that hangs")
			}
		})
	}
}
