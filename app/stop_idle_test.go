package app

import (
	"testing"

	"rollcall/adapters"
)

func TestMayStopIdle(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*adapters.Session)
		want   bool
	}{
		"idle":        {func(*adapters.Session) {}, true},
		"suspended":   {func(s *adapters.Session) { s.Suspended = true }, false},
		"working":     {func(s *adapters.Session) { s.Status = adapters.Working }, false},
		"sub-agent":   {func(s *adapters.Session) { s.Parent = "p" }, false},
		"remote":      {func(s *adapters.Session) { s.Remote = "gw" }, false},
		"contained":   {func(s *adapters.Session) { s.Container = "4026532456" }, true},
		"of a daemon": {func(s *adapters.Session) { s.Shared = true }, false},
	} {
		s := Session{Session: changed(on("a", adapters.Idle, 1), c.change)}
		if got := s.MayStopIdle(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
