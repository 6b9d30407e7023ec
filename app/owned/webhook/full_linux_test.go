package webhook

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/app/store"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// TestFullDisk: with a full disk ends are sent from memory. Once there is space, what the server has not taken is stored.
func TestFullDisk(t *testing.T) {
	disk := testfs.NewDisk(t)
	a := listen(t, 204, 500)
	s := newScene(t, "x")
	s.folder = store.In(disk.Path)
	must.Do(t, s.folder.Make())
	disk.Fill(t)
	var log strings.Builder
	core, stop, _ := s.run(Config{Target: at(a.URL, ""), Log: slog.New(slog.NewTextHandler(&log, nil)), Pauses: []time.Duration{20 * time.Millisecond}})
	defer stop()
	s.end(core)
	eventually.True(t, "delivery from memory", func() bool { return a.calls() == 1 })
	s.agent.mu.Lock()
	s.agent.s[0].ID, s.agent.s[0].Process.PID = "y", 200
	s.agent.mu.Unlock()
	s.machine.dead.Store(false)
	core.Refresh(t.Context())
	s.end(core)
	eventually.True(t, "attempts", func() bool { return a.calls() > 3 })
	if m, n := s.left(); m+n != 0 {
		t.Errorf("%d messages, %d sessions on a full disk", m, n)
	}
	disk.Free(t)
	eventually.True(t, "message on disk", func() bool { m, _ := s.left(); return m == 1 })
	stop()
	if !strings.Contains(log.String(), "disk full") || strings.Count(log.String(), "\n") > 3 {
		t.Error(log.String())
	}
}

// TestEndWithoutTarget: a sender ends although a message can be neither stored nor sent, because the webhook was removed or its settings
// can't be read.
func TestEndWithoutTarget(t *testing.T) {
	for name, broken := range map[string]error{"removed": nil, "settings": errors.New("config.toml: line 3: no value")} {
		t.Run(name, func(t *testing.T) {
			disk := testfs.NewDisk(t)
			a := listen(t, 500)
			s := newScene(t, "x")
			s.folder = store.In(disk.Path)
			must.Do(t, s.folder.Make())
			var isGone atomic.Bool
			target := func() (Target, error) {
				if isGone.Load() {
					return Target{}, broken
				}
				return Target{URL: a.URL}, nil
			}
			core, _, closed := s.run(Config{Target: target, Pauses: []time.Duration{10 * time.Millisecond}})
			disk.Fill(t)
			s.end(core)
			eventually.True(t, "attempt", func() bool { return a.calls() > 0 })
			isGone.Store(true)
			closed()
			if m, _ := s.left(); m != 0 {
				t.Errorf("%d messages on a full disk", m)
			}
		})
	}
}
