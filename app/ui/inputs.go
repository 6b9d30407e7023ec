package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// The controls below are Fyne's own, but for the keys: Fyne gives a key to what
// has the focus and to nobody else, so each hands on those that are the
// window's. Without that Escape would close a dialog from some of its fields only.

// windowKey says whether a key is the window's wherever the focus is.
func windowKey(ev *fyne.KeyEvent) bool { return ev.Name == fyne.KeyEscape || ev.Name == fyne.KeyF5 }

// reveal scrolls the form that is shown to a field that got the focus: the Tab
// key reaches what is out of sight.
func (u *UI) reveal(field fyne.CanvasObject) {
	var scroll *container.Scroll
	switch {
	case u.sheet != nil:
		scroll = u.sheet.scroll
	case u.page == pageLaunch:
		scroll = u.launch.scroll
	}
	if scroll == nil || scroll.Size().Height == 0 {
		return
	}
	d := fyne.CurrentApp().Driver()
	top := d.AbsolutePositionForObject(field).Y - d.AbsolutePositionForObject(scroll).Y
	bottom := top + field.Size().Height - scroll.Size().Height
	const margin = 12
	switch {
	case top < 0:
		scroll.ScrollToOffset(scroll.Offset.AddXY(0, top-margin))
	case bottom > 0:
		scroll.ScrollToOffset(scroll.Offset.AddXY(0, min(bottom+margin, top)))
	}
}

// checkBox is a box to tick.
type checkBox struct {
	widget.Check
	ui *UI
}

func newCheck(u *UI, text string, changed func(bool)) *checkBox {
	c := &checkBox{ui: u}
	c.Text, c.OnChanged = text, changed
	c.ExtendBaseWidget(c)
	return c
}

// FocusGained brings it into sight.
func (c *checkBox) FocusGained() {
	c.Check.FocusGained()
	c.ui.reveal(c)
}

// TypedKey is called for each key while the box has the focus.
func (c *checkBox) TypedKey(ev *fyne.KeyEvent) {
	if windowKey(ev) {
		c.ui.typedKey(ev)
		return
	}
	c.Check.TypedKey(ev)
}

// choice is a list that folds out, of which one is chosen.
type choice struct {
	widget.Select
	ui *UI
}

func newChoice(u *UI, options []string, changed func(string)) *choice {
	c := &choice{ui: u}
	c.Options, c.OnChanged = options, changed
	c.ExtendBaseWidget(c)
	return c
}

// FocusGained brings it into sight.
func (c *choice) FocusGained() {
	c.Select.FocusGained()
	c.ui.reveal(c)
}

// TypedKey is called for each key while the list has the focus.
func (c *choice) TypedKey(ev *fyne.KeyEvent) {
	switch {
	case windowKey(ev):
		c.ui.typedKey(ev)
	case ev.Name == fyne.KeyReturn || ev.Name == fyne.KeyEnter:
		c.Select.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	default:
		c.Select.TypedKey(ev)
	}
}

// suggestEntry is a field with suggestions that fold out.
type suggestEntry struct {
	widget.SelectEntry
	ui     *UI
	submit func() // Ctrl+Enter
}

func newSuggestEntry(u *UI, options []string) *suggestEntry {
	e := &suggestEntry{ui: u}
	e.ExtendBaseWidget(e)
	e.Wrapping = fyne.TextWrap(fyne.TextTruncateClip)
	e.SetOptions(options)
	if drop, ok := e.ActionItem.(*widget.Button); ok { // it has the focus at times as well
		b := newButton("", drop.Icon, u.typedKey, drop.OnTapped)
		b.Importance = drop.Importance
		e.ActionItem = b
	}
	return e
}

// FocusGained brings it into sight.
func (e *suggestEntry) FocusGained() {
	e.SelectEntry.FocusGained()
	e.ui.reveal(e)
}

// TypedKey is called for each key while the field has the focus.
func (e *suggestEntry) TypedKey(ev *fyne.KeyEvent) {
	if windowKey(ev) {
		e.ui.typedKey(ev)
		return
	}
	e.SelectEntry.TypedKey(ev)
}

// TypedShortcut is called for each shortcut while the field has the focus.
func (e *suggestEntry) TypedShortcut(s fyne.Shortcut) {
	if !e.ui.formShortcut(s, e.submit) {
		e.SelectEntry.TypedShortcut(s)
	}
}

// link is a text that does something, by Enter as well as by Space.
type link struct {
	widget.Hyperlink
	ui *UI
}

func newLink(u *UI, text string, tapped func()) *link {
	l := &link{ui: u}
	l.Text, l.OnTapped = text, tapped
	l.ExtendBaseWidget(l)
	return l
}

// TypedKey is called for each key while the link has the focus.
func (l *link) TypedKey(ev *fyne.KeyEvent) {
	switch {
	case windowKey(ev):
		l.ui.typedKey(ev)
	case ev.Name == fyne.KeyReturn || ev.Name == fyne.KeyEnter:
		l.Hyperlink.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	default:
		l.Hyperlink.TypedKey(ev)
	}
}

// keyList is a list.
type keyList struct {
	widget.List
	ui *UI
}

// TypedKey is called for each key while the list has the focus.
func (l *keyList) TypedKey(ev *fyne.KeyEvent) {
	if windowKey(ev) {
		l.ui.typedKey(ev)
		return
	}
	l.List.TypedKey(ev)
}
