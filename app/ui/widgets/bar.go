package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// Bar shows how full something is. Its colour warns from 80 % on.
type Bar struct {
	widget.BaseWidget
	value float64
}

// NewBar returns a bar; value is between 0 and 1.
func NewBar(value float64) *Bar {
	b := &Bar{value: value}
	b.ExtendBaseWidget(b)
	return b
}

// Set shows another value.
func (b *Bar) Set(value float64) { change(b, &b.value, value) }

// CreateRenderer implements fyne.Widget.
func (b *Bar) CreateRenderer() fyne.WidgetRenderer {
	track, fill := newRectangle(3), newRectangle(3)
	r := &Renderer{Widget: b, Parts: []fyne.CanvasObject{track, fill}}
	r.Min = func() fyne.Size { return fyne.NewSize(60, 6) }
	r.Arrange = func(size fyne.Size) {
		track.Resize(size)
		part := float32(min(max(b.value, 0), 1))
		fill.Hidden = part == 0
		// At least as wide as high, so that a small part still looks like a bar.
		fill.Resize(fyne.NewSize(max(part*size.Width, size.Height), size.Height))
	}
	r.Update = func() {
		color := ColorWorking
		switch {
		case b.value >= 0.95:
			color = ColorBad
		case b.value >= 0.8:
			color = ColorWaiting
		}
		track.FillColor, fill.FillColor = ThemeColor(ColorTrack), ThemeColor(color)
	}
	r.Refresh()
	return r
}
