package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/app/listing"
	"rollcall/app/owned/notices"
	"rollcall/app/ui/missedpage"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// TestMissed: the page lists what the tray told, the newest first, with what became of each; without any it says so, and a file that can't be read is no empty list.
func TestMissed(t *testing.T) {
	state := t.TempDir()
	told := notices.In(state)
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents(), Notices: told})
	look := func(want string) {
		t.Helper()
		w.ui.open(pageSessions)
		for _, item := range w.ui.moreItems() {
			if item.Label == missedpage.Title {
				item.Action()
			}
		}
		w.until(want, func() bool { return strings.Contains(strings.Join(shownTexts(w.ui.content), "\n"), want) })
	}
	look("Nothing was told yet")
	w.shoot("missed-none")
	add := func(id, title string, waits bool) {
		must.Do(t, told.Add(notices.Notice{At: time.Now(), Key: title, Waits: waits, Agent: agentname.ClaudeCode, Session: id, Title: title, Body: "npm publish\n--tag latest"}, false))
	}
	add("w1", "Claude Code needs permission in website", true)
	add("gone", "Claude Code ended in attic", false)
	add("s2", "Claude Code asks you in api", true)
	add(firstID, "Claude Code needs permission in rollcall", true)
	look("needs permission in rollcall")
	shows(t, w.ui.content, "still waits", "answered, or withdrawn by its agent", "ended", "no longer listed", "npm publish")
	all := strings.Join(shownTexts(w.ui.content), "\n")
	if strings.Index(all, "in rollcall") > strings.Index(all, "in website") {
		t.Errorf("the newest is not the first:\n%s", all)
	}
	w.shoot("missed")
	tap(t, w.ui.pages[pageMissed].content, "Show")
	if w.ui.page != pageSessions || w.ui.scope != listing.NeedsYou {
		t.Error("the button does not lead to the request")
	}
	for i := range notices.Most {
		add("w1", fmt.Sprint("turn ", i), false)
	}
	look("The last 50 notifications are kept.")
	must.Do(t, os.WriteFile(filepath.Join(state, "notifications", "told.json"), []byte("{"), 0o600))
	look("The last notifications cannot be read")
	w.shoot("missed-failed")
}
