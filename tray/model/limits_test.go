package model_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/tray/model"
)

func TestLimitRows(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	agents := []app.AgentLimits{
		{Agent: agentname.Codex, Stored: true, Limits: []adapters.Limit{
			{Home: "/a", Window: 5 * time.Hour, Used: 92, ResetsAt: now.Add(130 * time.Minute), At: now},
			{Home: "/a", Window: 7 * 24 * time.Hour, Used: 80, ResetsAt: now.Add(time.Hour), At: now},
			{Home: "/b", Window: 5 * time.Hour, Used: 99, ResetsAt: now, At: now.Add(-time.Hour)},
			{Home: "/b", Name: "credits", Balance: "3", Used: 100, At: now},
		}},
		{Agent: agentname.ClaudeCode, Stored: true, Limits: []adapters.Limit{{Home: "/c", Used: 100, Window: 7 * 24 * time.Hour, Name: "Opus", ResetsAt: now.Add(50 * time.Hour), At: now}}},
		{Agent: agentname.Pi},
	}
	account := func(a *app.AgentLimits, home string) string {
		if a.SeveralHomes() {
			return "work"
		}
		return ""
	}
	var got []string
	for _, r := range model.LimitRows(agents, account, now) {
		got = append(got, r.Text)
	}
	if d := cmp.Diff([]string{"Claude Code: 100 % of week, Opus, resets Fri 14:00", "Codex work: 92 % of 5 h, resets 14:10"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
