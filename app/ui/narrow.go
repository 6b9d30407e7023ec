package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// narrow is the width below which two panes side by side are too narrow to read.
const narrow = 600

// turning lays out a split: its panes side by side where there is room for that,
// else one above the other. Each way keeps the share that the user gave it.
type turning struct {
	split *container.Split
	share map[bool]float64 // by whether they are side by side
}

func newTurning(first, second fyne.CanvasObject, beside, above float64) *fyne.Container {
	t := &turning{split: container.NewHSplit(first, second), share: map[bool]float64{true: beside, false: above}}
	t.split.SetOffset(beside)
	return container.New(t, t.split)
}

func (t *turning) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	if horizontal := size.Width >= narrow; horizontal != t.split.Horizontal {
		t.share[t.split.Horizontal] = t.split.Offset
		t.split.Horizontal = horizontal
		t.split.SetOffset(t.share[horizontal])
	}
	t.split.Resize(size)
}

// MinSize is that of either pane, so that the window can become narrow.
func (t *turning) MinSize([]fyne.CanvasObject) fyne.Size {
	return t.split.Leading.MinSize().Max(t.split.Trailing.MinSize())
}

// topBar lays out the tabs, when the list is of, and the button for another. What
// there is no room for goes first: the time, then the button's word.
type topBar struct {
	tabs    fyne.CanvasObject
	asOf    *line
	refresh *button
	text    string
}

const (
	topHeight = 36
	topLeft   = 6
	topGap    = 8
)

func newTopBar(tabs fyne.CanvasObject, asOf *line, refresh *button) *fyne.Container {
	return container.New(&topBar{tabs, asOf, refresh, refresh.Text}, tabs, asOf, refresh)
}

func (b *topBar) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	tabs := b.tabs.MinSize()
	b.tabs.Resize(fyne.NewSize(tabs.Width, topHeight))
	b.tabs.Move(fyne.NewPos(topLeft, 2))
	room := size.Width - topLeft - tabs.Width - 2*topGap
	b.word(b.text)
	if b.refresh.MinSize().Width > room {
		b.word("")
	}
	button := b.refresh.MinSize()
	x := size.Width - topGap - button.Width
	b.refresh.Resize(fyne.NewSize(button.Width, topHeight-6))
	b.refresh.Move(fyne.NewPos(x, 4))
	left := topLeft + tabs.Width + topGap
	b.asOf.Hidden = x-topGap-left < 60
	b.asOf.Resize(fyne.NewSize(max(x-topGap-left, 0), topHeight))
	b.asOf.Move(fyne.NewPos(left, 1))
}

func (b *topBar) word(text string) {
	if b.refresh.Text != text {
		b.refresh.SetText(text)
	}
}

// MinSize has room for the tabs and the sign of the button.
func (b *topBar) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(topLeft+b.tabs.MinSize().Width+topGap+topHeight+topGap, topHeight+2)
}

// sized gives its content the whole room, and tells when that changes.
type sized struct {
	last    fyne.Size
	changed func()
}

func (s *sized) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(size)
		o.Move(fyne.NewPos(0, 0))
	}
	if size != s.last {
		s.last = size
		s.changed()
	}
}

func (s *sized) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var m fyne.Size
	for _, o := range objects {
		m = m.Max(o.MinSize())
	}
	return m
}
