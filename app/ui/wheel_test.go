package ui

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
)

// wheel turns the wheel down over the middle of o: what is topmost there and scrolls gets it.
func (w *window) wheel(o fyne.CanvasObject) {
	w.t.Helper()
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject
	middle := at(o).AddXY(o.Size().Width/2, o.Size().Height/2)
	var top fyne.Scrollable
	for _, x := range visible(w.ui.content) {
		s, ok := x.(fyne.Scrollable)
		from := at(x)
		to := from.Add(x.Size())
		if ok && from.X <= middle.X && middle.X < to.X && from.Y <= middle.Y && middle.Y < to.Y {
			top = s
		}
	}
	if top == nil {
		w.t.Fatalf("nothing scrolls at %v", middle)
	}
	top.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: -40}})
}

// TestWheelOverPrompt: over the prompt the wheel scrolls the page while the text fits, and the text once it doesn't.
func TestWheelOverPrompt(t *testing.T) {
	w, p, _ := launchWindow(t, full())
	w.win.Resize(fyne.NewSize(900, 460))
	w.win.Canvas().Capture()
	for _, c := range []struct {
		text string
		want float32
	}{{"one line", 40}, {strings.Repeat("a line\n", 40), 0}} {
		p.prompt.SetText(c.text)
		p.scroll.ScrollToTop()
		w.wheel(p.prompt)
		if p.scroll.Offset.Y != c.want {
			t.Errorf("with %d lines the page is scrolled by %g, want %g", strings.Count(c.text, "\n")+1, p.scroll.Offset.Y, c.want)
		}
	}
}
