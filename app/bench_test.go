package app

import (
	"context"
	"fmt"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// BenchmarkRefresh is the core's own share of a refresh of 10,000 sessions, 10 of
// them live: reconcile, sort, snapshot.
func BenchmarkRefresh(b *testing.B) {
	const n = 5000
	now := time.Now()
	m := newMachine()
	var list []adapters.Adapter
	for _, name := range []adapters.Name{agentname.ClaudeCode, agentname.Codex} {
		a := &ready{agent{name: name}}
		for i := range n {
			s := on(fmt.Sprintf("%s-%032x", name, i), adapters.Stopped, 0)
			if i < 5 {
				s = on(s.ID, adapters.Working, i+1)
				m.start(s.Process)
			}
			s.Agent, s.LastActivityAt = name, now.Add(-time.Duration(i*7919%n)*time.Minute)
			a.sessions = append(a.sessions, s)
		}
		list = append(list, a)
	}
	c := New(Config{Adapters: list, Table: m, Since: All})
	b.ReportAllocs()
	for b.Loop() {
		if s := c.Refresh(b.Context()); len(s.Sessions()) != 2*n {
			b.Fatal(len(s.Sessions()))
		}
	}
}

// ready is an agent that answers at no cost.
type ready struct{ agent }

func (r *ready) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{Sessions: r.sessions}, nil
}

// BenchmarkExit is the core's own share between the end of a process and the
// event, among 1,000 sessions.
func BenchmarkExit(b *testing.B) {
	m := newMachine()
	a := &agent{name: agentname.ClaudeCode}
	for i := range 1000 {
		a.sessions = append(a.sessions, on(fmt.Sprint("s", i), adapters.Stopped, 0))
		a.sessions[i].LastActivityAt = time.Now()
	}
	c := New(Config{Adapters: []adapters.Adapter{a}, Table: m, Watch: m, Since: All})
	events := c.Events()
	defer events.Close()
	go func() { _ = c.Run(b.Context()) }()
	for c.Snapshot().Adapters[0].State != OK {
		time.Sleep(time.Millisecond)
	}
	rest := a.sessions
	for i := 1; b.Loop(); i++ {
		b.StopTimer()
		m.start(pid(i))
		a.says(nil, append(rest[:1000:1000], on("live", adapters.Working, i))...)
		c.Refresh(b.Context())
		if e, err := events.Next(b.Context()); err != nil || e.Kind != Started {
			b.Fatal(e, err)
		}
		b.StartTimer()
		m.end(pid(i))
		if e, err := events.Next(b.Context()); err != nil || e.Kind != Ended {
			b.Fatal(e, err)
		}
	}
}
