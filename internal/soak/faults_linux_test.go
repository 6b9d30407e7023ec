package soak

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// faulty is an adapter that can be made to fail, or to hang without regard to
// its context.
type faulty struct {
	adapters.Adapter
	failing atomic.Bool
	hanging atomic.Pointer[chan struct{}] // closed when it goes on
}

var errBroken = &adapters.Problem{Kind: adapters.ErrUnreadable, Path: "/the/store", Err: errors.New("input/output error")}

// Discover implements adapters.Adapter.
func (f *faulty) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	if wait := f.hanging.Load(); wait != nil {
		<-*wait
	}
	if f.failing.Load() {
		return adapters.Roll{LookedIn: []string{"/the/store"}}, errBroken
	}
	return f.Adapter.Discover(ctx, q)
}

func (f *faulty) hang() {
	wait := make(chan struct{})
	f.hanging.Store(&wait)
}

func (f *faulty) goOn() { close(*f.hanging.Swap(nil)) }

// WatchPaths implements adapters.Watcher.
func (f *faulty) WatchPaths() []string {
	if w, ok := f.Adapter.(adapters.Watcher); ok {
		return w.WatchPaths()
	}
	return nil
}

// OwnsProcess implements adapters.ProcessOwner.
func (f *faulty) OwnsProcess(p proc.Process) bool {
	o, ok := f.Adapter.(adapters.ProcessOwner)
	return ok && o.OwnsProcess(p)
}

// pushing is a faulty one that is told of changes.
type pushing struct{ *faulty }

// Push implements adapters.Pusher.
func (p pushing) Push(ctx context.Context, changed func()) {
	p.Adapter.(adapters.Pusher).Push(ctx, changed)
}

// withFaults wraps an adapter without taking from it what it can.
func withFaults(a adapters.Adapter) (adapters.Adapter, *faulty) {
	f := &faulty{Adapter: a}
	if _, ok := a.(adapters.Pusher); ok {
		return pushing{f}, f
	}
	return f, f
}

// fault lets one adapter fail, or hang, after some samples: its rows are stale,
// with the reason, and as they were; the others go on; and then all is well.
func (s *soak) fault() {
	switch s.samples % 15 {
	case 4:
		f := s.faults[adapters.ClaudeCode]
		s.breakDown(adapters.ClaudeCode, f.hang, f.goOn)
	case 9:
		f := s.faults[adapters.Codex]
		s.breakDown(adapters.Codex, func() { f.failing.Store(true) }, func() { f.failing.Store(false) })
	case 14:
		if t := s.script.troop(adapters.OpenClaw); t != nil {
			g := scene.Gateway(t.agent)
			s.breakDown(adapters.OpenClaw, g.Hang, g.Resume)
		}
	}
}

func (s *soak) breakDown(name adapters.Name, begin, end func()) {
	s.Helper()
	t := s.script.troop(name)
	if t == nil || s.Failed() {
		return
	}
	s.script.frozen = t
	begin()
	for range 2 {
		s.act()
		s.core.Refresh(s.Context())
		s.askAll(name)
		snapshot := s.core.Snapshot()
		stale := 0
		for got := range snapshot.All() {
			if got.Agent != name {
				continue
			}
			if got.Stale == nil || got.Stale.Reason == "" || got.Stale.Since.IsZero() {
				s.Errorf("%s does not answer, yet session %s is not stale: %+v", name, got.ID, got.Stale)
			}
			stale++
		}
		if want := len(t.live) + len(t.stopped); stale != want {
			s.Errorf("%s does not answer: %d rows, want %d", name, stale, want)
		}
		if wrong := s.differences(snapshot, false); len(wrong) > 0 {
			s.Errorf("%s does not answer: %q", name, wrong)
		}
		if s.Failed() {
			end()
			s.FailNow()
		}
	}
	end()
	s.script.frozen, s.mended = nil, time.Now()
	s.core.RefreshOne(s.Context(), name)
	s.sample()
}
