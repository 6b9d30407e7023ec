package ui

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"rollcall/app/ui/widgets"
)

// under returns the part of a text that Fyne gives the mouse to, once the pointer is over the text.
func under(t *testing.T, text *widgets.SelectText) desktop.Mouseable {
	t.Helper()
	if h, ok := any(text).(desktop.Hoverable); ok {
		h.MouseIn(nil)
	}
	for _, o := range slices.Backward(visible(text)) {
		if m, ok := o.(desktop.Mouseable); ok {
			return m
		}
	}
	t.Fatal("the mouse does nothing on a text")
	return nil
}

// mouseAt is what the primary button does at a place of a text.
func mouseAt(x float32) *desktop.MouseEvent {
	return &desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x, 12)}, Button: desktop.MouseButtonPrimary}
}

// TestClickOnAText: after a click on a message, from which the wheel then takes the pointer, nothing that the window does not show has the focus, and the keys and
// shortcuts of the window go on to work. A second click that Fyne reports then does no more.
func TestClickOnAText(t *testing.T) {
	w := open(t, full())
	w.core.say(firstID, workday()...)
	w.talking(10)
	c := w.ui.sessions.detail.conversation
	w.win.Canvas().Capture()
	var text *widgets.SelectText
	for _, o := range visible(c.views[1].content) {
		if s, ok := o.(*widgets.SelectText); ok {
			text = s
		}
	}
	part := under(t, text)
	part.MouseDown(mouseAt(40))
	part.MouseUp(mouseAt(40))
	isShown := func(what string) {
		t.Helper()
		if f, ok := w.win.Canvas().Focused().(fyne.CanvasObject); ok && !slices.Contains(visible(w.win.Content()), f) {
			t.Errorf("%s the focus is on %T, which the window does not show", what, f)
		}
	}
	isShown("after a click")
	if h, ok := any(text).(desktop.Hoverable); ok {
		h.MouseOut()
	}
	isShown("once the pointer is elsewhere")
	w.key(fyne.KeyEnd)
	c.toEnd()
	if was := c.scroll.Offset.Y; was > 0 {
		w.key(fyne.KeyHome)
		if c.scroll.Offset.Y == was {
			t.Error("the Home key does nothing after a click on a message")
		}
	}
	w.shortcut(fyne.KeyF)
	if !c.finder.content.Visible() {
		t.Error("Ctrl+F does nothing after a click on a message")
	}
	part.(fyne.DoubleTappable).DoubleTapped(&fyne.PointEvent{Position: fyne.NewPos(40, 12)})
	if f := w.win.Canvas().Focused(); f != fyne.Focusable(c.finder.entry) {
		t.Errorf("a second click that is reported late moves the focus to %T", f)
	}
}
