package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/ui/widgets"
)

// filterEntry is the filter field: Escape clears it, and Down moves the focus to the list. The window's own shortcuts
// work while it has the focus.
type filterEntry struct {
	widget.Entry
	host   *widgets.Host
	toList func()
}

func newFilterEntry(placeholder string) *filterEntry {
	e := &filterEntry{}
	e.PlaceHolder = placeholder
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey handles a key while the field has the focus.
func (e *filterEntry) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		if e.Text == "" {
			e.toList()
			return
		}
		e.SetText("")
	case fyne.KeyDown, fyne.KeyReturn, fyne.KeyEnter:
		e.toList()
	case fyne.KeyF5:
		e.host.Key(ev)
	default:
		e.Entry.TypedKey(ev)
	}
}

// TypedShortcut handles a shortcut while the field has the focus.
func (e *filterEntry) TypedShortcut(s fyne.Shortcut) {
	if !e.host.Shortcut(s) {
		e.Entry.TypedShortcut(s)
	}
}
