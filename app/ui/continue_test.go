package ui

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/listing"
)

// TestContinueAtReset: a stopped session that reached a limit can be continued at the reset, once; the page Locks & timers shows the timer and cancels it.
func TestContinueAtReset(t *testing.T) {
	snap := full()
	i := 0
	for snap.Own[i].Status != adapters.Stopped || snap.Own[i].Parent != "" {
		i++
	}
	s := &snap.Own[i]
	s.Outcome = adapters.Failed
	s.Limited = true
	s.LimitedUntil = time.Now().Add(2 * time.Hour)
	w := openWith(t, &fakeCore{snapshot: snap}, Options{Agents: usualAgents()})
	w.ui.host.Now = time.Now
	d := w.ui.sessions.detail
	d.show(s, listing.Key{Agent: s.Agent, ID: s.ID}, w.ui.sessions.view, time.Now())
	if !d.goOn.Visible() {
		t.Fatal("no button")
	}
	w.shoot("continue-button")
	d.goOn.OnTapped()
	sheet := w.ui.host.Sheet
	shows(t, sheet.Popup, "The limit is reset at ")
	w.shoot("continue")
	typeInto(t, sheet.Popup, "15:05, or 2026-11-28 09:00", "soon")
	tap(t, sheet.Popup, "Set timer")
	w.until("the refusal", func() bool {
		return strings.Contains(strings.Join(shownTexts(sheet.Popup), "\n"), `"soon" is not a time`)
	})
	typeInto(t, sheet.Popup, "15:05, or 2026-11-28 09:00", time.Now().Add(3*time.Hour).Format("2006-01-02 15:04"))
	tap(t, sheet.Popup, "Set timer")
	w.ui.open(pageLocks)
	w.until("the timer", func() bool { return strings.Contains(w.locksPage(), "continues ") && w.ui.host.Sheet == nil })
	list, err := w.ui.options.Fuses.List()
	if err != nil || len(list) != 1 || list[0].Continue == nil || list[0].Continue.Session != s.ID || list[0].Continue.Prompt != "Continue." {
		t.Fatalf("%+v, %v", list, err)
	}
	w.shoot("continue-timer")
	tap(t, w.ui.upkeep.Content, "Cancel")
	w.until("its end", func() bool { return strings.Contains(w.locksPage(), "No timer is set.") })
	s.Limited = false
	if w.ui.upkeep.CanContinue(s) {
		t.Error("offered for a session that reached no limit")
	}
}
