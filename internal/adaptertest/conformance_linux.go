package adaptertest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
)

// Subject is an adapter that is put to the suite.
type Subject struct {
	// Agent plays the adapter's agent.
	Agent func(w *scene.Environment) scene.Agent
	// Home is the folder below the agent's store that the user names as a home; empty: the store itself.
	Home string
	// New makes the adapter as the program makes it, with the home, environment,
	// process table and named homes of the environment.
	New func(w *scene.Environment) adapters.Adapter
	// Hang, for an agent that is also asked over a socket, makes that socket
	// accept and never answer, until release.
	Hang func(w *scene.Environment, agent scene.Agent, sessions []*scene.Session) (release func())
	// Whole says, of an adapter that answers all sessions or none, why; empty: it answers those that it has read in time.
	Whole string
	// Exempt says of checks that can't apply why. No other check is skipped:
	// one that finds nothing to do fails.
	Exempt map[string]string
}

// patience limits how long a check waits for an answer, with the race detector,
// on a machine that is busy with other things. What an answer costs is asserted
// by what it reads and allocates.
const patience = 30 * time.Second

// Conformance holds an adapter to what all adapters promise: one subtest per
// promise.
func Conformance(t *testing.T, s Subject) {
	checks := []struct {
		name string
		run  func(*check)
	}{
		{"described", described}, {"absent", absent}, {"empty", empty}, {"named home", namedHome}, {"statuses", statuses}, {"queries", queries},
		{"pid reused", reused}, {"zombie", zombie}, {"died with its machine", rebooted}, {"folder renamed", folderRenamed},
		{"unreadable", unreadable}, {"every level unreadable", everyLevel}, {"torn", torn}, {"damaged", damaged}, {"not a file", kindOfFile}, {"not a folder", kindOfFolder}, {"unknown record", unknownRecord},
		{"unknown form", unknownForm}, {"huge", huge}, {"cancelled", cancelled}, {"cut short", cutShort}, {"out of time", outOfTime}, {"socket hangs", socketHangs},
		{"at once", atOnce}, {"changing", changing}, {"watched", watched}, {"untouched", untouched}, {"peek", peek},
	}
	known := map[string]bool{}
	for _, c := range checks {
		known[c.name] = true
	}
	for name := range s.Exempt {
		if !known[name] {
			t.Errorf("exempt from %q, which is no check", name)
		}
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if why := s.Exempt[c.name]; why != "" {
				t.Skip(why)
			}
			c.run(newCheck(t, s))
		})
	}
}

// check is one subtest: a environment, its agent, and an adapter that looks at it.
type check struct {
	*testing.T
	subject     Subject
	environment *scene.Environment
	agent       scene.Agent
	adapter     adapters.Adapter
}

func newCheck(t *testing.T, s Subject) *check {
	t.Helper()
	w := scene.New(t)
	return &check{T: t, subject: s, environment: w, agent: s.Agent(w), adapter: s.New(w)}
}

// in is the same subject in a environment of its own.
func (c *check) in(t *testing.T) *check { return newCheck(t, c.subject) }

// ask asks the adapter and holds what goes for every answer.
func (c *check) ask(q adapters.Query) (map[string]adapters.Session, adapters.Roll, error) {
	c.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	roll, err := c.adapter.Discover(ctx, q)
	if ctx.Err() != nil {
		c.Errorf("no answer within %v", patience)
	}
	return c.byID(roll), roll, err
}

// byID holds the rules for every session.
func (c *check) byID(roll adapters.Roll) map[string]adapters.Session {
	c.Helper()
	sessions := make(map[string]adapters.Session)
	for _, s := range roll.Sessions {
		for _, wrong := range Invalid(&s) {
			c.Errorf("session %s: %s", s.ID, wrong)
		}
		if s.Agent != c.adapter.Name() {
			c.Errorf("session %s is of %s", s.ID, s.Agent)
		}
		if _, twice := sessions[s.ID]; twice {
			c.Errorf("session %s is listed twice", s.ID)
		}
		sessions[s.ID] = s
	}
	return sessions
}

// fine asks, and wants no error.
func (c *check) fine(q adapters.Query) (map[string]adapters.Session, adapters.Roll) {
	c.Helper()
	sessions, roll, err := c.ask(q)
	if err != nil {
		c.Errorf("Discover: %v", err)
	}
	return sessions, roll
}

// expect wants exactly these sessions, each as it truly is.
func (c *check) expect(sessions map[string]adapters.Session, want ...*scene.Session) {
	c.Helper()
	for _, s := range want {
		c.expectOne(sessions, s)
	}
	if len(sessions) != len(want) {
		c.Errorf("%d sessions, want %d: %s", len(sessions), len(want), brief(sessions))
	}
}

func (c *check) expectOne(sessions map[string]adapters.Session, s *scene.Session) {
	c.Helper()
	got, listed := sessions[s.ID]
	if !listed {
		c.Errorf("session %s (%s) is missing", s.ID, s.Truth())
		return
	}
	if is := scene.TruthOf(&got); is != s.Truth() {
		c.Errorf("session %s is %s, want %s; evidence: %s", s.ID, is, s.Truth(), got.Evidence)
	}
	if got.Status != adapters.Stopped && !s.Process.IsZero() && got.Process != s.Process {
		c.Errorf("session %s has %s, want %s; evidence: %s", s.ID, got.Process, s.Process, got.Evidence)
	}
	if got.CWD != s.CWD {
		c.Errorf("session %s is in %q, want %q", s.ID, got.CWD, s.CWD)
	}
}

func brief(sessions map[string]adapters.Session) string {
	var list []string
	for id, s := range sessions {
		list = append(list, fmt.Sprintf("%s %s (%s)", id, scene.TruthOf(&s), s.Evidence))
	}
	slices.Sort(list)
	return fmt.Sprintf("%q", list)
}

// cast begins sessions in every state that the agent has, each in a folder of
// its own: the first is working, the second idle.
func (c *check) cast() []*scene.Session {
	c.Helper()
	start := func(n int) *scene.Session {
		return c.agent.Start(fmt.Sprintf("/home/dev/proj%d", n), fmt.Sprintf("prompt %d", n))
	}
	working, idle := start(1), start(2)
	idle.Answer("fine")
	all := []*scene.Session{working, idle}
	if waiting := start(3); waiting.Ask() {
		all = append(all, waiting)
	} else {
		waiting.Answer("never asks")
		all = append(all, waiting)
	}
	if working.Remote {
		return all
	}
	exited, died := start(4), start(5)
	exited.Answer("bye")
	exited.Exit()
	died.Kill()
	again := start(6)
	again.Answer("bye")
	again.Exit()
	again.Resume("once more")
	return append(all, exited, died, again)
}

// needs ends the check as failed where it finds nothing to do: a check is left out
// only with a reason in Exempt.
func (c *check) needs(there bool, what string) {
	c.Helper()
	if !there {
		c.Fatalf("%s; if that is as it must be, say so in Exempt", what)
	}
}
