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
