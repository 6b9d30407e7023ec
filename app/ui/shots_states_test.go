package ui

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/internal/agentname"
)

// TestShotStates: every page that shows what was read, while it is read, without anything, and after a failure, at three sizes and two scales, light and dark, with
// ROLLCALL_SHOTS=1 (make shots).
func TestShotStates(t *testing.T) {
	if os.Getenv("ROLLCALL_SHOTS") == "" {
		t.Skip("make shots paints every page")
	}
	loading := &app.Snapshot{Refreshing: true, Adapters: []app.Health{
		{Name: agentname.ClaudeCode, State: app.Pending, Asking: true}, {Name: agentname.Codex, State: app.Pending, Asking: true}}}
	for state, snap := range map[string]*app.Snapshot{"empty": snapshotOf(), "loading": loading, "failed": broken(snapshotOf())} {
		t.Run(state, func(t *testing.T) { shootState(t, state, snap) })
	}
}

func shootState(t *testing.T, state string, snap *app.Snapshot) {
	core := &searchCore{fakeCore: &fakeCore{snapshot: snap}}
	agents, o := usualAgents(), Options{}
	switch state {
	case "loading":
		core.hold = make(chan struct{})
		defer close(core.hold)
	case "failed":
		o = blockedFolders(t)
		core.report = app.SearchReport{Agents: []app.SearchedAgent{{Name: agentname.Codex, State: app.Failed, Problems: []string{"/home/dev/.codex/sessions: unreadable: permission denied"}}}}
	case "empty":
		for _, a := range agents {
			a.(*fakeAgent).Install = "npm install -g " + a.(*fakeAgent).Run
		}
	}
	o.Agents = agents
	w := openWith(t, core, o)
	if state == "loading" {
		w.ui.pages[pageLocks].opened = nil
	}
	w.ui.history = func(ctx context.Context, _ time.Time) *app.Snapshot {
		if state == "loading" {
			<-ctx.Done()
		}
		return snap
	}
	w.ui.search.entry.SetText("flaky")
	for name, show := range map[string]func(){"all": func() { w.ui.showScope(listing.AllGroups) }, "needs-you": func() { w.ui.showScope(listing.NeedsYou) },
		"agents": func() { w.ui.open(pageAgents) }, "launch": func() { w.ui.open(pageLaunch) }, "locks": func() { w.ui.open(pageLocks) },
		"search": func() { w.ui.open(pageSearch) }, "usage": func() { w.ui.open(pageUsage) }} {
		t.Run(name, func(*testing.T) {
			show()
			deadline := time.Now().Add(time.Second / 2)
			w.until("the page", func() bool { return time.Now().After(deadline) })
			w.shootSizes(fmt.Sprintf("state-%s-%s", name, state), fyne.NewSize(700, 500), fyne.NewSize(1280, 800), fyne.NewSize(1920, 1080))
		})
	}
}
