package ui

import (
	"slices"

	"fyne.io/fyne/v2"

	"rollcall/app/ui/widgets"
)

// folderText holds the texts that describe a lock or a timer of a folder.
type folderText struct {
	icon    *widgets.Icon
	path    string
	text    string
	output  string // of the timer's script
	actions []folderAction
}

// folderAction is a button of a lock or a timer.
type folderAction struct {
	name   string
	target string // what it acts on
	tapped func(*widgets.Button)
}

// folderCard shows a lock or a timer.
type folderCard struct {
	*widgets.Card
	shown folderText
}

func newFolderCard(h *widgets.Host, f *folderText) *folderCard {
	var actions []fyne.CanvasObject
	for _, a := range f.actions {
		var b *widgets.Button
		b = h.NewButton(a.name, nil, func() { a.tapped(b) })
		actions = append(actions, b)
	}
	c := &folderCard{widgets.NewCard(f.icon, short(f.path), f.text, actions...), *f}
	if f.output != "" {
		c.Body.Add(widgets.Quote(f.output))
	}
	return c
}

// set shows the lock or timer as it is now. It keeps the focus and the selected text. It returns false if f needs
// another card.
func (c *folderCard) set(f folderText) bool {
	same := func(a, b folderAction) bool { return a.name == b.name && a.target == b.target }
	if c.shown.path != f.path || c.shown.output != f.output || !slices.EqualFunc(c.shown.actions, f.actions, same) {
		return false
	}
	c.Set(f.icon, f.text)
	return true
}
