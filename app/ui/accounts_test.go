package ui

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/internal/uitest"
)

// limitedAgent is an agent that stores limits.
type limitedAgent struct {
	*uitest.Agent
	limits []adapters.Limit
}

func (a *limitedAgent) Limits(context.Context) ([]adapters.Limit, error) { return a.limits, nil }

// namedHomes returns settings in which a home of Codex is called work.
func namedHomes(t *testing.T) *settings.Live {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	must.Do(t, os.WriteFile(path, []byte("[homes]\ncodex = [{path = \"/home/dev/.codex-work\", name = \"work\"}]\n"), 0o600))
	live := settings.NewLive(path, nil)
	live.Read()
	return live
}

// TestUsageLimits: the Usage page has a line for each window, and no figure for one that has begun again.
func TestUsageLimits(t *testing.T) {
	agents := usualAgents()
	now := time.Now()
	agents[1] = &limitedAgent{agents[1].(*fakeAgent), []adapters.Limit{
		{Home: "/home/dev/.codex", Window: 5 * time.Hour, Used: 92, At: now.Add(-3 * time.Minute), ResetsAt: now.Add(2 * time.Hour)},
		{Home: "/home/dev/.codex", Window: 7 * 24 * time.Hour, Used: 41, At: now.Add(-3 * time.Minute), ResetsAt: now.Add(70 * time.Hour)},
		{Home: "/home/dev/.codex-work", Window: 5 * time.Hour, Used: 77, At: now.Add(-9 * time.Hour), ResetsAt: now.Add(-4 * time.Hour)},
		{Home: "/home/dev/.codex-work", Name: "credits", Balance: "38.21", At: now.Add(-9 * time.Hour)},
	}}
	snap := usageSnapshot()
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: agents, Live: namedHomes(t)})
	w.ui.history = func(context.Context, time.Time) *app.Snapshot { return snap }
	w.ui.host.Now = time.Now
	w.ui.open(pageUsage)
	w.until("the limits", func() bool { return slices.Contains(shownTexts(w.ui.usage.Content), "38.21 left") })
	w.usageSays("Read from cache")
	shows(t, w.ui.usage.Content, "Codex codex · 5 h", "92 %", "resets ", "3 m ago", "Codex codex · week", "Codex work · 5 h", "not known", "38.21 left")
	if strings.Contains(strings.Join(shownTexts(w.ui.usage.Content), "\n"), "Claude Code: ") {
		t.Error("agents that store no limits are named")
	}
	if slices.Contains(shownTexts(w.ui.usage.Content), "77 %") {
		t.Error("the figure of a window that is over")
	}
	w.shoot("usage-limits")
	w.win.Resize(fyne.NewSize(720, 480))
	w.shoot("usage-limits-small")
}

// TestLaunchAccount: the launch page offers the homes of the one agent that is chosen, and launches in the chosen one.
func TestLaunchAccount(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // of the prompt for the terminal
	snap := full()
	for i := range snap.Own {
		if s := &snap.Own[i]; s.Agent == agentname.Codex {
			s.Home, s.Account = "/home/dev/.codex", "codex"
			if i%2 == 0 {
				s.Home, s.Account = "/home/dev/.codex-work", "work"
			}
		}
	}
	w := openWith(t, &fakeCore{snapshot: snap}, Options{Agents: usualAgents(), Live: namedHomes(t)})
	w.shoot("accounts")
	w.ui.ShowLaunch()
	p := w.launchPage()
	w.until("the agents", p.asked)
	p.folder.SetText(t.TempDir())
	p.prompt.SetText("Fix the build.")
	if p.shows("Account") {
		t.Error("a choice of accounts for an agent with one home")
	}
	p.choices[0].check.SetChecked(false)
	p.choices[1].check.SetChecked(true)
	if !p.shows("Account") || p.home.Options[1] != "work" {
		t.Fatalf("no choice of accounts: %v", p.home.Options)
	}
	p.home.SetSelected("work")
	w.command("FAKE_HOME=/home/dev/.codex-work")
	w.shoot("launch-account")
	p.terminal.SetChecked(true)
	p.launch()
	w.until("the terminal", func() bool { return len(w.system.terminals()) == 1 })
	if got := w.system.terminals()[0]; !slices.Contains(got, "--home=/home/dev/.codex-work") {
		t.Errorf("the terminal runs %q", got)
	}
	p.terminal.SetChecked(false)
	p.choices[0].check.SetChecked(true)
	if p.shows("Account") || p.home.Selected != "the account of your environment" {
		t.Errorf("two agents in the home %q", p.home.Selected)
	}
}
