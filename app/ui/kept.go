package ui

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
)

// keptWords is a lock or a timer in words.
type keptWords struct {
	icon    *icon
	path    string // its folder
	text    string
	output  string // of its script
	actions []keptAction
}

// keptAction is what can be done with it.
type keptAction struct {
	name   string
	target string // what it is done to
	tapped func(*button)
}

// keptCard shows a lock or a timer: its folder, what is known of it, and what
// can be done.
type keptCard struct {
	content fyne.CanvasObject
	words   keptWords
	image   *canvas.Image
	text    *selectText
}

func newKeptCard(w *keptWords, keys func(*fyne.KeyEvent)) *keptCard {
	c := &keptCard{words: *w, image: canvas.NewImageFromResource(w.icon), text: newSelectText(w.text)}
	c.image.FillMode = canvas.ImageFillContain
	c.image.SetMinSize(fyne.NewSquareSize(16))
	title := newPathLine(short(w.path), theme.SizeNameText, fyne.TextStyle{Bold: true})
	facts := container.New(layout.NewCustomPaddedVBoxLayout(-2),
		container.New(layout.NewCustomPaddedLayout(2, 0, 6, 6), title), c.text)
	if w.output != "" {
		facts.Add(quote(w.output))
	}
	actions := container.New(layout.NewCustomPaddedHBoxLayout(6))
	for _, a := range w.actions {
		var b *button
		b = newButton(a.name, nil, keys, func() { a.tapped(b) })
		actions.Add(b)
	}
	c.content = newPanel(container.New(layout.NewCustomPaddedLayout(6, 4, 10, 8), border(nil,
		container.New(layout.NewCustomPaddedLayout(3, 0, 0, 4), container.NewVBox(c.image)),
		container.NewVBox(actions), facts)))
	return c
}

// set shows the lock or timer as it is now; false where it takes another card.
// What has the focus, or is selected to be copied, stays.
func (c *keptCard) set(w keptWords) bool {
	same := func(a, b keptAction) bool { return a.name == b.name && a.target == b.target }
	if c.words.path != w.path || c.words.output != w.output || !slices.EqualFunc(c.words.actions, w.actions, same) {
		return false
	}
	if c.words.icon != w.icon {
		c.image.Resource = w.icon
		c.image.Refresh()
	}
	if c.words.text != w.text {
		c.text.SetText(w.text)
	}
	c.words.icon, c.words.text = w.icon, w.text
	return true
}
