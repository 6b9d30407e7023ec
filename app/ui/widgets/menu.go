package widgets

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// ShowMenuBelow opens a menu below the button b.
func (h *Host) ShowMenuBelow(b fyne.CanvasObject, items []*fyne.MenuItem) {
	c := h.Window.Canvas()
	menu := widget.NewPopUpMenu(fyne.NewMenu("", items...), c)
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b)
	size := menu.MinSize()
	x, y := min(at.X, c.Size().Width-size.Width-4), at.Y+b.Size().Height+2
	if y+size.Height > c.Size().Height {
		y = at.Y - size.Height - 2
	}
	menu.ShowAtPosition(fyne.NewPos(max(x, 0), max(y, 0)))
}

// Suggest adds a button to a field that opens a menu of texts for it.
func (h *Host) Suggest(e *Entry, texts func() []string) {
	e.ActionItem = h.NewFlatButton("", theme.MenuDropDownIcon(), func() {
		var items []*fyne.MenuItem
		for _, text := range texts() {
			items = append(items, fyne.NewMenuItem(text, func() { e.SetText(text) }))
		}
		h.ShowMenuBelow(e, items)
	})
}

// Copy copies text to the clipboard, and shows for copiedFor on the button that it was copied.
func (h *Host) Copy(b *Button, text string) {
	fyne.CurrentApp().Clipboard().SetContent(text)
	was, icon := b.Text, b.Icon
	if was == copied {
		return
	}
	b.SetIcon(NewIcon("done", ColorGood))
	b.SetText(copied)
	time.AfterFunc(copiedFor, func() {
		h.Post(func() {
			b.SetIcon(icon)
			b.SetText(was)
		})
	})
}

const (
	copied    = "Copied"
	copiedFor = 1500 * time.Millisecond
)
