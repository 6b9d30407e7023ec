package model_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/tray/model"
)

func TestEndedRows(t *testing.T) {
	end := func(outcome adapters.Outcome, d time.Duration, more ...func(*app.Session)) app.Event {
		s := session("e"+fmt.Sprint(d), adapters.Stopped, "shop", d, more...)
		s.Outcome = outcome
		return app.Event{Kind: app.Ended, At: ago(d), Session: s}
	}
	rows := model.EndedRows([]app.Event{
		end(adapters.Completed, time.Minute, title("Fix the login")), end(adapters.Died, 2*time.Minute, codex, title("Add\x1b[31m paging of a very long list that has no end at all")),
		end("", time.Hour), end(adapters.Interrupted, 2*time.Hour), end(adapters.Failed, 3*time.Hour), end(adapters.Failed, 4*time.Hour),
	}, now)
	var got []string
	for _, r := range rows {
		got = append(got, r.Label()+" "+r.Session)
	}
	want := []string{
		"■ shop · Claude Code · turn complete: Fix the login · 1 m e1m0s",
		"■ shop · Codex · died in mid-turn: Add paging of a very l… · 2 m e2m0s",
		"■ shop · Claude Code · ended · 1 h e1h0m0s",
		"■ shop · Claude Code · stopped by you · 2 h e2h0m0s",
		"■ shop · Claude Code · turn failed · 3 h e3h0m0s",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestQuietRow(t *testing.T) {
	m := model.Build(&app.Snapshot{At: now, Adapters: []app.Health{ok(agentname.ClaudeCode)}}, nil, now)
	m.SetQuiet(now.Add(time.Hour), now)
	if m.Quiet != "End do not disturb (until 15:10)" || m.Tooltip != "Rollcall: no agents at work; do not disturb" {
		t.Errorf("%q, %q", m.Quiet, m.Tooltip)
	}
	m.SetQuiet(time.Time{}, now)
	if m.Quiet != "End do not disturb" {
		t.Errorf("%q", m.Quiet)
	}
}
