package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestLogOfBackground: a launch in the background has no terminal to show, so its button shows the log; where a terminal shows it, the button shows that.
func TestLogOfBackground(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "logs"), 0o700))
	path := filepath.Join(dir, "logs", "l-1.log")
	must.Do(t, os.WriteFile(path, []byte("three tests fail\n"), 0o600))
	background := session("background", adapters.Working, nil)
	background.Launch = &app.Launch{ID: "l-1", Log: path}
	attached := session("attached", adapters.Working, func(s *adapters.Session) { s.Terminal = proc.Identity{PID: 4712, Start: 1} })
	attached.Launch = &app.Launch{ID: "l-2", Log: path}
	w := openWith(t, &fakeCore{snapshot: snapshotOf(background, attached)}, Options{Agents: usualAgents(), Shower: &fakeShower{}, Launches: launch.In(dir, proc.Open())})
	w.ui.Show("attached")
	d := w.ui.sessions.detail
	if d.terminal.Text != "Show terminal" {
		t.Errorf("a session with a terminal has %q", d.terminal.Text)
	}
	w.ui.Show("background")
	if d.terminal.Text != "Show log" || d.terminal.Disabled() || d.terminal.Importance != widget.HighImportance {
		t.Errorf("a launch without a terminal has %q, disabled: %v", d.terminal.Text, d.terminal.Disabled())
	}
	w.press(d.terminal, fyne.KeyReturn)
	w.until("the log", func() bool {
		return w.ui.host.Sheet != nil && strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), "three tests fail")
	})
	w.shoot("show-log")
}

// TestWelcomeCountsRows: the page counts the sessions of an agent as the lists do, with a launch that the agent does not list.
func TestWelcomeCountsRows(t *testing.T) {
	s := snapshotOf(session("one", adapters.Idle, nil), session("two", adapters.Working, nil))
	for i := range s.Adapters {
		s.Adapters[i].Sessions = 1 // as the agent answered
	}
	w := introduced(t, s, Options{})
	shows(t, w.ui.welcome.Content, "2 recent sessions")
}
