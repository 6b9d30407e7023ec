package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"rollcall/app/ui/widgets"
)

// narrow is the width below which two panes side by side are hard to read.
const narrow = 600

// responsiveSplit lays out two panes side by side, or one above the other if the window is narrow. Each layout keeps
// the share that the user gave it.
type responsiveSplit struct {
	split *container.Split
	share map[bool]float64 // of the first pane, by whether they are side by side
}

func newResponsiveSplit(first, second fyne.CanvasObject, beside, above float64) *fyne.Container {
	t := &responsiveSplit{split: container.NewHSplit(first, second), share: map[bool]float64{true: beside, false: above}}
	t.split.SetOffset(beside)
	return container.New(t, t.split)
}

func (t *responsiveSplit) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	if horizontal := size.Width >= narrow; horizontal != t.split.Horizontal {
		t.share[t.split.Horizontal] = t.split.Offset
		t.split.Horizontal = horizontal
		t.split.SetOffset(t.share[horizontal])
	}
	t.split.Resize(size)
}

// MinSize returns the larger one of the panes' sizes, so that the window can become narrow.
func (t *responsiveSplit) MinSize([]fyne.CanvasObject) fyne.Size {
	return t.split.Leading.MinSize().Max(t.split.Trailing.MinSize())
}

// topBar lays out the tabs, the time of the snapshot and the Refresh button. Where there is no room it first leaves out
// the time, then the button's text.
type topBar struct {
	tabs    fyne.CanvasObject
	scroll  *container.Scroll // has the tabs, which a narrow window shows only in part
	asOf    *widgets.Line
	refresh *widgets.Button
	text    string
}

const (
	topHeight = 36
	topLeft   = 6
	topGap    = 8
	leastTabs = 340
)

func newTopBar(tabs fyne.CanvasObject, asOf *widgets.Line, refresh *widgets.Button) *fyne.Container {
	scroll := container.NewHScroll(tabs)
	return container.New(&topBar{tabs, scroll, asOf, refresh, refresh.Text}, scroll, asOf, refresh)
}

func (b *topBar) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	tabs := b.tabs.MinSize()
	tabs.Width = min(tabs.Width, size.Width-topLeft-topHeight-2*topGap)
	b.scroll.Resize(fyne.NewSize(tabs.Width, topHeight))
	b.scroll.Move(fyne.NewPos(topLeft, 2))
	room := size.Width - topLeft - tabs.Width - 2*topGap
	b.refresh.SetText(b.text)
	if b.refresh.MinSize().Width > room {
		b.refresh.SetText("")
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

// MinSize returns the room for some of the tabs and the button's icon.
func (b *topBar) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(topLeft+min(b.tabs.MinSize().Width, leastTabs)+topGap+topHeight+topGap, topHeight+2)
}

// sized gives its content the whole room, and calls changed when its size changes.
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
