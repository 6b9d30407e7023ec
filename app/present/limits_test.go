package present

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

func TestLimitLine(t *testing.T) {
	now := time.Date(2026, 11, 25, 22, 0, 0, 0, time.UTC)
	for want, l := range map[string]adapters.Limit{
		"Codex: 92 % of 5 h, resets 01:10":           {Window: 5 * time.Hour, Used: 92.4, ResetsAt: now.Add(190 * time.Minute)},
		"Codex: 41 % of week, resets Sat 21:51":      {Window: 7 * 24 * time.Hour, Used: 41, ResetsAt: now.Add(3*24*time.Hour - 9*time.Minute)},
		"Codex: 0 % of 30 days, resets 20 Dec 22:00": {Window: 30 * 24 * time.Hour, ResetsAt: now.Add(25 * 24 * time.Hour)},
		"Codex: not known of 5 h, reset 22:00":       {Window: 5 * time.Hour, Used: 92, ResetsAt: now},
		"Codex: not known of 299 min":                {Window: 299 * time.Minute, Used: 92, At: now.Add(-5 * time.Hour)},
		"Codex: 7 % of limit":                        {Used: 7, Window: -107069315 * time.Minute},
		"Codex: not known of spending":               {Name: "spending", Unknown: true},
		"Codex: 3 left of credits":                   {Name: "credits", Balance: "3\x1b[2J", Used: 9},
		"Codex: 100 % of week, Opus":                 {Name: "Opus", Window: 7 * 24 * time.Hour, Used: 100, At: now},
		"Codex: 100 % of limit, resets Thu 16:00":    {Used: 100, ResetsAt: now.Add(18 * time.Hour)},
	} {
		if got := LimitLine(agentname.Codex, "", &l, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := LimitLine(agentname.Codex, "work", &adapters.Limit{Window: time.Hour, Used: 81, At: now}, now); got != "Codex work: 81 % of 1 h" {
		t.Errorf("%q", got)
	}
}
