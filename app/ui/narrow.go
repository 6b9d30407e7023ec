package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"rollcall/app/ui/widgets"
)

// narrow is the width below which two panes side by side are hard to read.
const narrow = 600

// newResponsiveSplit arranges two panes side by side, or one above the other if the window is narrow. Each arrangement
// keeps the share of the first pane that the user gave it.
func newResponsiveSplit(first, second fyne.CanvasObject, beside, above float64) *fyne.Container {
	split, share := container.NewHSplit(first, second), map[bool]float64{true: beside, false: above}
	split.SetOffset(beside)
	return container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		if horizontal := size.Width >= narrow; horizontal != split.Horizontal {
			share[split.Horizontal] = split.Offset
			split.Horizontal = horizontal
			split.SetOffset(share[horizontal])
		}
		split.Resize(size)
	}, Least: func([]fyne.CanvasObject) fyne.Size { // not the sum of both panes, so that the window can become narrow
		return first.MinSize().Max(second.MinSize())
	}}, split)
}

const (
	topHeight = 36
	topLeft   = 6
	topGap    = 8
	leastTabs = 340
)

// newTopBar lays out the tabs, the time of the snapshot and the Refresh button. A narrow window shows a part of the tabs;
// it first leaves out the time, then the button's text.
func newTopBar(tabs fyne.CanvasObject, asOf *widgets.Line, refresh *widgets.Button) *fyne.Container {
	scroll, text := container.NewHScroll(tabs), refresh.Text
	return container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		wide := min(tabs.MinSize().Width, size.Width-topLeft-topHeight-2*topGap)
		widgets.Place(scroll, topLeft, 2, wide, topHeight)
		refresh.SetText(text)
		if refresh.MinSize().Width > size.Width-topLeft-wide-2*topGap {
			refresh.SetText("")
		}
		button := refresh.MinSize().Width
		x, left := size.Width-topGap-button, topLeft+wide+topGap
		widgets.Place(refresh, x, 4, button, topHeight-6)
		asOf.Hidden = x-topGap-left < 60
		widgets.Place(asOf, left, 1, max(x-topGap-left, 0), topHeight)
	}, Least: func([]fyne.CanvasObject) fyne.Size { // room for some of the tabs and for the icon of the button
		return fyne.NewSize(topLeft+min(tabs.MinSize().Width, leastTabs)+topGap+topHeight+topGap, topHeight+2)
	}}, scroll, asOf, refresh)
}
