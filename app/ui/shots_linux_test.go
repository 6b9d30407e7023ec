package ui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/ui/widgets"
	"rollcall/internal/must"
)

func TestShotLaunch(t *testing.T) {
	t.Setenv("FAKE_API_KEY", "k")
	w, p, dir := launchWindow(t, full())
	w.shoot("launch")
	p.folder.SetText(dir)
	p.prompt.SetText("The parser test fails about once in twenty runs on CI.\nFind out why and fix the cause, not the symptom.")
	p.choices[0].mode.SetSelected("acceptEdits")
	w.command("--mode acceptEdits")
	w.shoot("launch-filled")
	w.win.Resize(fyne.NewSize(720, 420))
	w.shoot("launch-small")
	w.win.Resize(fyne.NewSize(1040, 900))
	p.choices[0].mode.SetSelected("bypassPermissions")
	p.choices[0].model.SetText("opus, sonnet")
	p.choices[1].check.SetChecked(true)
	p.advanced.OnTapped()
	w.command("a group needs a git repository")
	w.shoot("launch-advanced")
	w.win.Resize(fyne.NewSize(1040, 680))
	p.launch()
	w.shoot("launch-unsafe")
	w.ui.host.CloseSheet()
	p.choices[1].check.SetChecked(false)
	p.choices[0].mode.SetSelected("default mode")
	p.choices[0].model.SetText("")
	p.advanced.OnTapped()
	w.publish(snapshotOf(session("e17d4c0a-6f0e-4d3a-9b1c-0a4f6a1f2b33", adapters.Working, func(s *adapters.Session) { s.CWD = dir })))
	w.command("claude -p")
	p.launch()
	w.until("the refusal", func() bool { return !p.busy() })
	w.shoot("launch-refused")
}

func TestShotLaunchNone(t *testing.T) {
	agents := usualAgents()
	for _, a := range agents {
		a.(*fakeAgent).Install = "npm install -g " + a.(*fakeAgent).Run
	}
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: agents})
	w.ui.ShowLaunch()
	w.until("the agents", w.launchPage().asked)
	w.shoot("launch-none")
}

func TestShotRuns(t *testing.T) {
	w := openReal(t, "agent")
	repo := filepath.Join(w.dir, "app")
	git(t, w.dir, "init", "-q", "-b", "main", repo)
	must.Do(t, os.WriteFile(filepath.Join(repo, "main.go"), []byte("package main\n"), 0o600))
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-q", "-m", "first")
	w.launchPage().folder.SetText(repo)
	w.launchPage().choices[0].model.SetText("opus, sonnet")
	w.launchPage().group.SetText("g-4f2a91")
	w.launch("Port the parser to the new lexer and keep all tests green")
	w.until("both sessions", func() bool { return strings.Count(w.run(), "is listed") == 2 })
	w.shoot("launch-group")
	for i, text := range []string{"package main\n\nfunc main() {}\n", "// Package main\npackage main\n"} {
		try := repo + "-try-g-4f2a91-cc-" + []string{"opus", "sonnet"}[i]
		must.Do(t, os.WriteFile(filepath.Join(try, "main.go"), []byte(text), 0o600))
	}
	must.Do(t, os.WriteFile(repo+"-try-g-4f2a91-cc-opus/lexer.go", []byte("package main\n"), 0o600))
	w.ui.upkeep.Compare(repo, "g-4f2a91")
	w.until("the comparison", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	w.shoot("compare")
	w.ui.host.CloseSheet()
	var s app.Session
	for _, x := range w.ui.sessions.view.Snapshot.Sessions() {
		s = x
	}
	w.ui.open(pageSessions)
	w.ui.Show(s.ID)
	w.shoot("launched")
	w.ui.upkeep.Stop(s)
	w.until("the plan", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	w.shoot("stop")
	tap(t, w.ui.host.Sheet.Popup, "Stop")
	w.until("the end", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), "it ended when asked to (SIGTERM)")
	})
	w.shoot("stopped")
	w.agent.be(adapters.Idle)
	w.ui.upkeep.StopIdle()
	w.until("the list", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	w.shoot("stop-idle")
	killAgents(t, w.agent.table, w.agent.store)
	w.until("their ends", func() bool { return allOver(w.ui.options.Launches) })
	w.until("its row", func() bool {
		x := w.ui.sessions.view.ByKey[listing.Key{Agent: s.Agent, ID: s.ID}]
		return x != nil && !x.Live()
	})
	w.showWorktrees(repo, "g-4f2a91")
	w.shoot("worktrees")
	w.ui.launch.Resume(*w.ui.sessions.view.ByKey[listing.Key{Agent: s.Agent, ID: s.ID}])
	typeInto(t, w.ui.host.Sheet.Popup, "Also add a test for an empty file.", "Now write the release notes.")
	w.until("the command", func() bool {
		return slices.ContainsFunc(shownTexts(w.ui.host.Sheet.Popup), func(x string) bool { return strings.Contains(x, "--resume") })
	})
	w.shoot("resume")
	t.Setenv("HOME", t.TempDir())
	w.ui.upkeep.CleanUp()
	w.until("the leftovers", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	w.shoot("cleanup")
	tap(t, w.ui.host.Sheet.Popup, w.ui.host.Sheet.Buttons.Objects[1].(*widgets.Button).Text)
	w.until("the removal", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), "moved to ")
	})
	w.shoot("cleaned")
}

func TestShotFailedLaunch(t *testing.T) {
	w := openReal(t, "fail")
	w.launch("do it")
	w.until("its end", func() bool { return strings.Contains(w.run(), "no such model") })
	w.command("-p")
	w.shoot("launch-failed")
}

func TestShotMenu(t *testing.T) {
	s := full()
	s.Sessions()[2].Launch = &app.Launch{ID: "l-1", Group: "g-4f2a91"}
	w := open(t, s)
	w.win.Canvas().Capture()
	w.ui.sessions.showMenu(w.ui.sessions.more)
	w.shoot("menu")
}
