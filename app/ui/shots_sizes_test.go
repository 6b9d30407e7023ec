package ui

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/software"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/listing"
	"rollcall/app/owned/notices"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// TestShotSizes: every page at three sizes and two scales, light and dark, with ROLLCALL_SHOTS=1 (make shots): painting them takes minutes.
func TestShotSizes(t *testing.T) {
	if os.Getenv("ROLLCALL_SHOTS") == "" {
		t.Skip("make shots paints every page")
	}
	a := newAsker(command("e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33", "1", "git push --force origin main && npm publish --tag latest --access public", 2*time.Minute))
	a.As = agentname.ClaudeCode
	answers := answer.New(a, func() settings.Answering { return settings.AnswerAll })
	set, _ := settingsWindow(t, "")
	told := notices.In(t.TempDir())
	for id, title := range map[string]string{firstID: "Claude Code needs permission in rollcall", "gone": "Codex ended in attic"} {
		must.Do(t, told.Add(notices.Notice{At: time.Now(), Key: title, Waits: id == firstID, Agent: agentname.ClaudeCode, Session: id, Title: title, Body: "npm publish --tag latest"}, false))
	}
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Notices: told, Agents: append(usualAgents()[1:], adapters.Adapter(a)), Answers: answers, Live: set.ui.options.Live, Version: "0.4.0", LogFolder: "/home/dev/.local/state/rollcall"})
	w.ui.history = func(context.Context, time.Time) *app.Snapshot { return usageSnapshot() }
	w.until("the request", func() bool { return len(w.ui.asking.asked) > 0 && w.ui.asking.asked[0].Entry.Read })
	pages := map[string]func(){"all": func() { w.ui.showScope(listing.AllGroups) }, "needs-you": func() { w.ui.showScope(listing.NeedsYou) }, "projects": func() { w.ui.showScope(listing.AllGroups); w.ui.feed.SetGrouped(true) }}
	pages["detail"] = func() {
		w.ui.showScope(listing.AllGroups)
		w.ui.sessions.panes.show(true)
	}
	for page, name := range map[int]string{pageAgents: "agents", pageLaunch: "launch", pageLocks: "locks", pageSearch: "search", pageUsage: "usage", pageSettings: "settings", pageIntroduction: "introduction", pageMissed: "missed"} {
		pages[name] = func() { w.ui.open(page) }
	}
	for name, show := range pages {
		t.Run(name, func(*testing.T) {
			show()
			deadline := time.Now().Add(time.Second)
			w.until("the page", func() bool { return time.Now().After(deadline) })
			w.shootSizes("size-"+name, fyne.NewSize(420, 600), fyne.NewSize(700, 500), fyne.NewSize(1280, 800), fyne.NewSize(1920, 1080))
			w.ui.feed.SetGrouped(false)
		})
	}
}

// shootSizes saves screenshots of the window at some sizes and two scales.
func (w *window) shootSizes(name string, sizes ...fyne.Size) {
	for _, size := range sizes {
		w.win.Resize(size)
		for _, scale := range []float32{1, 2} {
			w.win.Canvas().(software.WindowlessCanvas).SetScale(scale)
			w.shoot(fmt.Sprintf("%s-%.0fx%.0f-%.0fx", name, size.Width, size.Height, scale))
		}
		w.win.Canvas().(software.WindowlessCanvas).SetScale(1)
	}
}
