package webhook

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"rollcall/app/store"
	"rollcall/internal/testfs"
)

// TestFullDisk: with a full disk ends are sent from memory. Once there is space, what the server has not taken is stored.
func TestFullDisk(t *testing.T) {
	disk := testfs.NewDisk(t)
	a := listen(t, 204, 500)
	s := newScene(t, "x")
	s.folder = store.In(disk.Path)
	if err := s.folder.Make(); err != nil {
		t.Fatal(err)
	}
	disk.Fill(t)
	var log strings.Builder
	core, stop, _ := s.run(Config{Target: at(a.URL, ""), Log: slog.New(slog.NewTextHandler(&log, nil)), Pauses: []time.Duration{20 * time.Millisecond}})
	defer stop()
	s.end(core)
	until(t, "delivery from memory", func() bool { return a.calls() == 1 })
	s.agent.mu.Lock()
	s.agent.s[0].ID, s.agent.s[0].Process.PID = "y", 200
	s.agent.mu.Unlock()
	s.machine.dead.Store(false)
	core.Refresh(t.Context())
	s.end(core)
	until(t, "attempts", func() bool { return a.calls() > 3 })
	if m, n := s.left(); m+n != 0 {
		t.Errorf("%d messages, %d sessions on a full disk", m, n)
	}
	disk.Free(t)
	until(t, "message on disk", func() bool { m, _ := s.left(); return m == 1 })
	stop()
	if !strings.Contains(log.String(), "disk full") || strings.Count(log.String(), "\n") > 3 {
		t.Error(log.String())
	}
}
