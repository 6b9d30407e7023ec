package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// ChartBar is one bar of a chart.
type ChartBar struct {
	Label string
	Value float64 // 0 or more
}

// Chart shows values as upright bars beside one another, each with a label where there is room, and the largest value as
// a text at the top.
type Chart struct {
	widget.BaseWidget
	bars []ChartBar
	most string
}

// NewChart returns an empty chart.
func NewChart() *Chart {
	c := &Chart{}
	c.ExtendBaseWidget(c)
	return c
}

// Set shows other bars; most is a text with the largest value.
func (c *Chart) Set(bars []ChartBar, most string) {
	c.bars, c.most = bars, most
	c.Refresh()
}

// Bars returns the bars that the chart shows.
func (c *Chart) Bars() []ChartBar { return c.bars }

const (
	chartHeight = 150
	chartLabel  = 18 // the height of the labels
	chartGap    = 4
	widestBar   = 56
	widestOfFew = 140
	// fewBars is the number of bars up to which every bar has a label, which may be cut. With more
	// bars, only labels that fit completely are shown.
	fewBars = 8
)

// CreateRenderer implements fyne.Widget.
func (c *Chart) CreateRenderer() fyne.WidgetRenderer {
	r := &Renderer{Widget: c, Min: func() fyne.Size { return fyne.NewSize(200, chartHeight) }, Update: func() { canvas.Refresh(c) }}
	r.Arrange = func(size fyne.Size) { r.Parts = c.draw(size) }
	r.Refresh()
	return r
}

// draw returns the parts of the chart in this size.
func (c *Chart) draw(size fyne.Size) (parts []fyne.CanvasObject) {
	if len(c.bars) == 0 || size.Width < 10 {
		return nil
	}
	add := func(o fyne.CanvasObject, x, y, width, height float32) {
		Place(o, x, y, width, height)
		parts = append(parts, o)
	}
	small := TextSize(theme.SizeNameCaptionText)
	text := func(text string, x, y, width float32) {
		t := canvas.NewText(text, ThemeColor(ColorMuted))
		t.TextSize = small
		add(t, x, y, width, chartLabel)
	}
	most := 0.0
	for _, b := range c.bars {
		most = max(most, b.Value)
	}
	isFew, widest := len(c.bars) <= fewBars, float32(widestBar)
	if isFew {
		widest = widestOfFew
	}
	floor := size.Height - chartLabel
	step := min(size.Width/float32(len(c.bars)), widest+chartGap)
	wide := max(step-chartGap, 1)
	text(c.most, 0, 0, size.Width)
	add(canvas.NewRectangle(ThemeColor(ColorTrack)), 0, floor, size.Width, 1)
	free := float32(0) // the position from which on a label fits
	for i, b := range c.bars {
		x := float32(i) * step
		if most > 0 && b.Value > 0 {
			high := max(float32(b.Value/most)*(floor-chartLabel), 1)
			bar := newRectangle(2)
			bar.FillColor = ThemeColor(ColorWorking)
			add(bar, x, floor-high, wide, high)
		}
		width := fyne.MeasureText(b.Label, small, fyne.TextStyle{}).Width
		switch {
		case x < free:
		case width <= wide+2, !isFew && x+width <= size.Width:
			text(b.Label, x, floor+2, width)
			free = x + width + 8
		case isFew:
			text(Truncate(b.Label, wide, small, fyne.TextStyle{}), x, floor+2, wide)
			free = x + step
		}
	}
	return parts
}

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
