package ui

import (
	"testing"

	"fyne.io/fyne/v2"
)

// TestNarrowWindow: what a narrow window shows can be read, and a wide one is as
// it was.
func TestNarrowWindow(t *testing.T) {
	w := open(t, full())
	list, detail := w.ui.sessions.left, w.ui.sessions.detail.content
	if list.Size().Width > 500 || w.ui.refresh.Text != "Refresh" || !w.ui.asOf.Visible() {
		t.Fatalf("a wide window: the list is %v, the button says %q", list.Size(), w.ui.refresh.Text)
	}
	if least := w.ui.content.MinSize(); least.Width > 420 {
		t.Errorf("the window can't be narrower than %g", least.Width)
	}
	w.win.Resize(fyne.NewSize(420, 640))
	if list.Size().Width < 400 || detail.Size().Width < 400 {
		t.Errorf("the list is %v, the details are %v", list.Size(), detail.Size())
	}
	tabs := w.ui.tabs[pageAgents]
	end := fyne.CurrentApp().Driver().AbsolutePositionForObject(tabs).X + tabs.Size().Width
	if at := fyne.CurrentApp().Driver().AbsolutePositionForObject(w.ui.refresh); at.X < end {
		t.Errorf("the button, at %g, covers the tab, which ends at %g", at.X, end)
	}
	w.win.Resize(fyne.NewSize(1040, 680))
	if list.Size().Width > 500 || w.ui.refresh.Text != "Refresh" || !w.ui.asOf.Visible() {
		t.Errorf("wide again: the list is %v, the button says %q", list.Size(), w.ui.refresh.Text)
	}
}
