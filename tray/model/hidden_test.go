package model_test

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/assets"
	"rollcall/internal/agentname"
	"rollcall/tray/model"
)

// TestBuildHidden: sessions that the user hid or snoozed have no row and no part in the icon, but a count; not while they need the user.
func TestBuildHidden(t *testing.T) {
	hidden := func(s *app.Session) { s.Hidden = true }
	snoozed := func(s *app.Session) { s.Snoozed = true }
	headless := func(s *app.Session) { s.Headless = true }
	for name, c := range map[string]struct {
		sessions []app.Session
		want     string
		icon     assets.State
	}{
		"none": {[]app.Session{session("a", adapters.Idle, "a", 0)}, "○ a · Claude Code · idle · now", assets.Quiet},
		"all": {[]app.Session{session("a", adapters.Working, "a", 0, hidden), session("b", adapters.Idle, "b", 0, snoozed)},
			"No agents at work|Hidden (2)", assets.Quiet},
		"one needs the user": {[]app.Session{session("a", adapters.Waiting, "a", 0, hidden, permission), session("b", adapters.Idle, "b", 0, snoozed)},
			"◆ a · Claude Code · needs permission · now|Hidden (1)", assets.NeedsYou},
		"headless too": {[]app.Session{session("a", adapters.Working, "a", 0, headless), session("b", adapters.Working, "b", 0, headless, hidden)},
			"No agents at work|1 headless, 1 hidden", assets.Quiet},
		"stopped": {[]app.Session{session("a", adapters.Stopped, "a", 0, hidden)}, "No agents at work", assets.Quiet},
	} {
		m := model.Build(&app.Snapshot{At: now, Adapters: []app.Health{ok(agentname.ClaudeCode)}, Own: c.sessions}, nil, now)
		if got := strings.Join(labels(m), "|"); got != c.want || m.Icon != c.icon {
			t.Errorf("%s:\n got %s, icon %v\nwant %s, icon %v", name, got, m.Icon, c.want, c.icon)
		}
	}
}

// TestBuildPinned: a pinned session comes first among those with its status.
func TestBuildPinned(t *testing.T) {
	list := []app.Session{session("a", adapters.Idle, "new", 0), session("b", adapters.Idle, "pinned", time.Hour, func(s *app.Session) { s.Pinned = true }), session("c", adapters.Working, "works", time.Hour)}
	app.Sort(list)
	m := model.Build(&app.Snapshot{At: now, Adapters: []app.Health{ok(agentname.ClaudeCode)}, Own: list}, nil, now)
	for i, project := range []string{"works", "pinned", "new"} {
		if !strings.Contains(m.Rows[i].Text, project) {
			t.Errorf("row %d is %q", i, m.Rows[i].Text)
		}
	}
}
