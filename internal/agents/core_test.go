//go:build agents && linux

package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters/all"
	"rollcall/app"
	"rollcall/proc"
)

// follower is a core as the tray has it, with all that it has told.
type follower struct {
	s    *Sandbox
	core *app.Core

	mu   sync.Mutex
	told []app.Event
}

// follow runs a core until the test ends, and returns when it has called the roll
// once: from then on there are events.
func follow(s *Sandbox) *follower {
	s.t.Helper()
	table := proc.Open()
	watcher, err := proc.NewWatcher(table)
	if err != nil {
		s.t.Fatal(err)
	}
	f := &follower{s: s, core: app.New(app.Config{Adapters: all.New(table, all.Config{Home: s.Home}), Table: table, Watch: watcher})}
	events := f.core.Events()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = f.core.Run(ctx) })
	running.Go(func() {
		for {
			e, err := events.Next(ctx)
			if err != nil {
				return
			}
			f.mu.Lock()
			f.told = append(f.told, e)
			f.mu.Unlock()
		}
	})
	s.t.Cleanup(func() {
		cancel()
		running.Wait()
		events.Close()
		if err := watcher.Close(); err != nil {
			s.t.Errorf("close the watcher: %v", err)
		}
	})
	if err := poll(20*time.Second, func() bool {
		return !slices.ContainsFunc(f.core.Snapshot().Adapters, func(h app.Health) bool { return h.State == app.Pending })
	}); err != nil {
		s.t.Fatalf("the roll is not called: %v", err)
	}
	return f
}

// count returns how many events of a kind were told of the session that began with
// a prompt.
func (f *follower) count(kind app.EventKind, prompt string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, e := range f.told {
		if e.Kind == kind && strings.HasPrefix(e.Session.FirstPrompt, prompt) {
			n++
		}
	}
	return n
}

// tells waits for an event of the session that began with a prompt.
func (f *follower) tells(kind app.EventKind, prompt string) {
	f.s.t.Helper()
	err := poll(20*time.Second, func() bool { return f.count(kind, prompt) > 0 })
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		var b strings.Builder
		for _, e := range f.told {
			fmt.Fprintf(&b, "\n  %s %s %s %q", e.Kind, e.Session.Agent, e.Session.Status, e.Session.FirstPrompt)
		}
		f.s.t.Errorf("%s of %q is not told: %v; told:%s", kind, prompt, err, b.String())
	}
}

// lists asks everybody and returns the state in which the session that began with
// a prompt is listed; empty: it is not.
func (f *follower) lists(prompt string) string {
	f.s.t.Helper()
	ctx, cancel := context.WithTimeout(f.s.t.Context(), 20*time.Second)
	defer cancel()
	for _, x := range f.core.Refresh(ctx).Sessions() {
		if strings.HasPrefix(x.FirstPrompt, prompt) {
			return Session{Status: string(x.Status), WaitingFor: string(x.WaitingFor), Outcome: string(x.Outcome)}.state()
		}
	}
	return ""
}
