package ui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"rollcall/app"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
	"rollcall/internal/uitest"
)

// introduced opens the introduction over a snapshot.
func introduced(t *testing.T, s *app.Snapshot, o Options) *window {
	t.Helper()
	o.Agents = usualAgents()
	if o.TestNotification == nil {
		o.TestNotification = func(context.Context) error { return nil }
	}
	w := openWith(t, &fakeCore{snapshot: s}, o)
	w.ui.ShowIntroduction()
	return w
}

// found is a snapshot with one agent of each state.
func found() *app.Snapshot {
	s := full()
	s.Adapters[0].LookedIn = []string{"/home/dev/.claude/projects"}
	s.Adapters[1].State, s.Adapters[1].Problems = app.Failed, []string{"/home/dev/.codex/sessions: permission denied"}
	s.Adapters = append(s.Adapters, app.Health{Name: agentname.OpenCode, State: app.Pending, Asking: true}, app.Health{Name: agentname.Pi, State: app.Absent},
		app.Health{Name: agentname.OpenClaw, State: app.Absent})
	return s
}

// TestIntroduction: the page says what was found and where, also of an agent that could not be read, and what was not.
func TestIntroduction(t *testing.T) {
	w := introduced(t, found(), Options{})
	shows(t, w.ui.welcome.Content, "recent sessions, in /home/dev/.claude/projects",
		"Codex: could not be read completely", "OpenCode: reading…", "Not found: Pi and OpenClaw.", "read, never written")
	w.shoot("introduction")
	w.publish(full())
	if text := strings.Join(shownTexts(w.ui.welcome.Content), "\n"); strings.Contains(text, "Not found") || strings.Contains(text, "reading…") {
		t.Errorf("the page shows the agents as they were: %s", text)
	}
}

// TestIntroductionOfNothing: before the agents are read, and where there are none.
func TestIntroductionOfNothing(t *testing.T) {
	w := introduced(t, &app.Snapshot{}, Options{})
	shows(t, w.ui.welcome.Content, "Looking for agents…")
	w.publish(&app.Snapshot{Generation: 2, Adapters: []app.Health{{Name: agentname.Pi, State: app.Absent}}})
	shows(t, w.ui.welcome.Content, "No coding agent was found yet")
	w.shoot("introduction-empty")
}

// TestIntroductionTries: the button shows a notification, and says what became of it.
func TestIntroductionTries(t *testing.T) {
	answer := make(chan error)
	w := introduced(t, found(), Options{TestNotification: func(context.Context) error { return <-answer },
		TrayHint: func(context.Context) string { return "GNOME shows no icons of applications by itself." }})
	w.until("the hint", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.welcome.Content), "\n"), "GNOME shows no icons")
	})
	try := uitest.Part(t, w.ui.welcome.Content, func(b *widgets.Button) bool { return b.Text == "Send a test notification" })
	for _, failure := range []error{errors.New("no notification service is running: start your desktop's own"), nil} {
		test.Tap(try)
		shows(t, w.ui.welcome.Content, "Asking the desktop…")
		if !try.Disabled() {
			t.Error("the button can be pressed again")
		}
		answer <- failure
		w.until("the result", func() bool { return !try.Disabled() })
		if failure != nil {
			shows(t, w.ui.welcome.Content, "No notification service is running", "GNOME shows no icons")
			w.shoot("introduction-failed")
		}
	}
	shows(t, w.ui.welcome.Content, "The desktop has accepted the notification.")
}

// TestIntroductionIsLeft: Enter, Escape and each tab lead to what people came for.
func TestIntroductionIsLeft(t *testing.T) {
	w := introduced(t, full(), Options{})
	if w.win.Canvas().Focused() != w.ui.welcome.Done {
		t.Errorf("the focus is on %T", w.win.Canvas().Focused())
	}
	w.ui.welcome.Done.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if w.ui.page != pageSessions {
		t.Error("Enter does not show the sessions")
	}
	w.ui.ShowIntroduction()
	w.win.Canvas().Unfocus()
	w.ui.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if w.ui.page != pageSessions {
		t.Error("Escape does not show the sessions")
	}
}
