//go:build !headless

package desktop

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
)

// TestThresholds: each threshold is told once in each window, and nothing that was reached before the start.
func TestThresholds(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	var told thresholds
	look := func(used float64, resets time.Time, at ...int) int {
		return len(told.reached([]app.AgentLimits{{Agent: agentname.Codex, Limits: []adapters.Limit{
			{Home: "/a", Window: 5 * time.Hour, Used: used, ResetsAt: resets, At: now}, {Home: "/a", Name: "credits", Balance: "3", Used: 100}}}}, at, now))
	}
	first, next := now.Add(time.Hour), now.Add(6*time.Hour)
	for i, c := range []struct {
		used   float64
		resets time.Time
		want   int
	}{
		{82, first, 0},                 // before the start
		{83, first, 0}, {95, first, 1}, // 80 was reached before, 95 now
		{97, first.Add(time.Minute), 0}, // the same window, whose time is recorded a little differently
		{60, first, 0}, {96, first, 0},  // another session's older record
		{10, next, 0}, {99, next, 1}, // both thresholds at once are told once
		{99, next, 0}, {100, now.Add(-1), 0}, // that window is over
	} {
		if got := look(c.used, c.resets, 80, 95); got != c.want {
			t.Errorf("%d: told %d times, want %d", i, got, c.want)
		}
	}
	if look(100, next.Add(24*time.Hour)) != 0 {
		t.Error("a notification without thresholds")
	}
}
