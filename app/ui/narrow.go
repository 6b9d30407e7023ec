package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/ui/widgets"
)

// narrow is the width below which two panes side by side are hard to read.
const narrow = 600

// newResponsiveSplit arranges two panes side by side, or one above the other if the window is narrow. Each arrangement
// keeps the share of the first pane that the user gave it.
func newResponsiveSplit(first, second fyne.CanvasObject, beside, above float64) *fyne.Container {
	split, share := container.NewHSplit(first, second), map[bool]float64{true: beside, false: above}
	// Fyne paints the divider as a bar in the colour of shadows. A hairline covers it; what is dragged is still the bar.
	cover := canvas.NewRectangle(nil)
	line := widget.NewSeparator()
	bar := widgets.TextSize(theme.SizeNameSplitThickness)
	split.Trailing = container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		cover.FillColor = widgets.ThemeColor(theme.ColorNameBackground) // which Fyne arranges again when the theme changes
		second.Resize(size)
		if split.Horizontal {
			widgets.Place(cover, -bar, 0, bar, size.Height)
			widgets.Place(line, -bar/2, 0, 1, size.Height)
		} else {
			widgets.Place(cover, 0, -bar, size.Width, bar)
			widgets.Place(line, 0, -bar/2, size.Width, 1)
		}
	}, Least: func([]fyne.CanvasObject) fyne.Size { return second.MinSize() }}, second, cover, line)
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
