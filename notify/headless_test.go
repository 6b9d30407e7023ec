package notify

import (
	"testing"

	"rollcall/adapters"
	"rollcall/app"
)

// TestHeadless: the user is told of a headless session that waits, and not of its end, unless Rollcall launched it or the user wants to know.
func TestHeadless(t *testing.T) {
	headless := func(ev app.Event) app.Event {
		ev.Session.Headless, ev.Before.Headless = true, true
		return ev
	}
	unattended := headless(change("a", adapters.Working, adapters.Idle))
	unattended.Session.Unattended = true
	inTerminal := headless(end("a", 5))
	inTerminal.Before.Headless = false // its files say what began it
	waits := headless(change("a", adapters.Working, adapters.Waiting))
	for name, c := range map[string]struct {
		ev   app.Event
		mode app.Headless
		want string
	}{
		"ends": {headless(end("a", 5)), "", ""}, "its turn ends": {unattended, app.FoldHeadless, ""}, "ends, quiet": {headless(end("a", 5)), app.QuietHeadless, ""},
		"ends, shown": {headless(end("a", 5)), app.ShowHeadless, "Codex ended in a [a]"}, "its turn ends, shown": {unattended, app.ShowHeadless, "Codex finished in a [a]"},
		"waits": {waits, "", "Codex needs permission in a [a]"}, "waits, quiet": {waits, app.QuietHeadless, "Codex needs permission in a [a]"},
		"launched": {ofLaunch(headless(end("a", 5))), app.QuietHeadless, "Codex ended in a [a]"}, "resumed in a terminal": {inTerminal, "", "Codex ended in a [a]"},
	} {
		p := newPolicy(func() Rules { return Rules{AwayAfter: -1, Headless: c.mode} })
		if got := said(p.take([]app.Event{c.ev}, look{now: noon})); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
