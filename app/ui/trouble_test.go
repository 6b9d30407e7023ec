package ui

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2/canvas"

	"rollcall/adapters"
	"rollcall/app/listing"
)

// TestFailedTurn: a turn that failed shows its reason in the row and in the details.
func TestFailedTurn(t *testing.T) {
	w := open(t, snapshotOf(session("a", adapters.Idle, func(s *adapters.Session) {
		s.Title, s.Outcome, s.Evidence = "Add rate limits", adapters.Failed, "thread 019a: idle; last turn failed 14:02:11 (stream disconnected before completion)"
	}), session("b", adapters.Idle, func(s *adapters.Session) { s.Title = "Compress the images" })))
	const why = "stream disconnected before completion"
	shows(t, w.ui.sessions.detail.content, "The turn failed: "+why)
	for i, r := range w.ui.sessions.view.Rows {
		if text := w.ui.sessions.textOf(r); r.Kind == listing.SessionRow && strings.Contains(text.second, why) != (r.Key.ID == "a") {
			t.Errorf("row %d says %q", i, text.second)
		}
	}
	w.ui.sessions.detail.showFacts(true)
	texts := shownTexts(w.ui.sessions.detail.content)
	if at := slices.Index(texts, "Why it failed"); at < 0 || texts[at+1] != why {
		t.Errorf("the details have no field with the reason:\n%s", strings.Join(texts, "\n"))
	}
	w.shoot("failed-turn")
	w.ui.Show("b")
	if shown := strings.Join(shownTexts(w.ui.sessions.detail.content), "\n"); strings.Contains(shown, "failed") {
		t.Errorf("the details of another session say\n%s", shown)
	}
}

// TestPathsInRows: what a session does is shortened in the middle of its path, so that the name of the file can be read.
func TestPathsInRows(t *testing.T) {
	w := open(t, snapshotOf(session("a", adapters.Working, func(s *adapters.Session) {
		s.Doing, s.Title = "Edit /home/dev/projects/rollcall/internal/parser/lexer/generated/token_buffer_test.go", "Fix it"
	})))
	w.win.Canvas().Capture()
	shown := ""
	for _, o := range visible(w.ui.sessions.list) {
		if text, ok := o.(*canvas.Text); ok && strings.Contains(text.Text, "Edit") {
			shown = text.Text
		}
	}
	if !strings.Contains(shown, "Edit /home/") || !strings.Contains(shown, "…") || !strings.HasSuffix(shown, "token_buffer_test.go") {
		t.Errorf("the row shows %q", shown)
	}
	w.shoot("paths-in-rows")
}
