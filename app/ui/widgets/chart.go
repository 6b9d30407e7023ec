package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// ChartBar is one bar of a chart.
type ChartBar struct {
	Label string
	Parts [3]float64 // 0 or more each, from the bottom to the top
	Tip   string     // shown while the pointer is over the bar
}

// Value returns the height of the bar.
func (b *ChartBar) Value() float64 { return b.Parts[0] + b.Parts[1] + b.Parts[2] }

// ChartColors are the colours of the parts of a bar.
var ChartColors = [3]fyne.ThemeColorName{ColorWorking, ColorGood, ColorCache}

// Chart shows values as upright bars of three parts beside one another, each with a label where there is room. An axis has the largest value and its half; while the pointer
// is over a bar, its tip is shown instead.
type Chart struct {
	widget.BaseWidget
	bars []ChartBar
	axis func(value float64) string // the text of a value
	over int                        // the bar below the pointer, from 1; 0: none
	step float32                    // the width of a bar with its gap, at the last layout
}

var _ desktop.Hoverable = (*Chart)(nil)

// MouseIn shows the tip of the bar below the pointer.
func (c *Chart) MouseIn(ev *desktop.MouseEvent) { c.MouseMoved(ev) }

// MouseMoved shows the tip of the bar below the pointer.
func (c *Chart) MouseMoved(ev *desktop.MouseEvent) {
	over := 0
	if c.step > 0 && ev.Position.X >= 0 {
		over = int(ev.Position.X/c.step) + 1
	}
	if over > len(c.bars) {
		over = 0
	}
	change(c, &c.over, over)
}

// MouseOut hides the tip.
func (c *Chart) MouseOut() { change(c, &c.over, 0) }

// Tip returns the tip that is shown; empty: none is.
func (c *Chart) Tip() string {
	if c.over == 0 {
		return ""
	}
	return c.bars[c.over-1].Tip
}

// NewChart returns an empty chart.
func NewChart() *Chart {
	c := &Chart{}
	c.ExtendBaseWidget(c)
	return c
}

// Set shows other bars; axis returns the text of a value.
func (c *Chart) Set(bars []ChartBar, axis func(value float64) string) {
	c.bars = bars
	c.axis = axis
	c.over = 0
	c.Refresh()
}

const (
	chartHeight = 170
	chartLabel  = 18 // the height of the labels
	chartGap    = 4
	chartAxis   = 56 // the width of the texts of the axis
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
		most = max(most, b.Value())
	}
	isFew, widest := len(c.bars) <= fewBars, float32(widestBar)
	if isFew {
		widest = widestOfFew
	}
	floor := size.Height - chartLabel
	plot := size.Width - chartAxis
	step := min(plot/float32(len(c.bars)), widest+chartGap)
	wide := max(step-chartGap, 1)
	c.step = step
	room := floor - chartLabel
	c.drawAxis(most, size.Width, floor, add, text)
	if tip := c.Tip(); tip != "" {
		text(Truncate(tip, size.Width, small, fyne.TextStyle{}), 0, 0, size.Width)
	}
	free := float32(0) // the position from which on a label fits
	for i, b := range c.bars {
		x := float32(i) * step
		c.drawBar(i, most, fyne.NewPos(x, floor), wide, room, add)
		width := fyne.MeasureText(b.Label, small, fyne.TextStyle{}).Width
		switch {
		case x < free:
		case width <= wide+2, !isFew && x+width <= plot:
			text(b.Label, x, floor+2, width)
			free = x + width + 8
		case isFew:
			text(Truncate(b.Label, wide, small, fyne.TextStyle{}), x, floor+2, wide)
			free = x + step
		}
	}
	return parts
}

// drawAxis draws the lines of the largest value, of its half and of zero, with the texts of the first two.
func (c *Chart) drawAxis(most float64, width, floor float32, add func(o fyne.CanvasObject, x, y, width, height float32), text func(text string, x, y, width float32)) {
	for part, y := range []float32{chartLabel, (chartLabel + floor) / 2, floor} {
		add(canvas.NewRectangle(ThemeColor(theme.ColorNameSeparator)), 0, y, width, 1)
		if value := c.axis(most * []float64{1, 0.5, 0}[part]); part < 2 {
			wide := fyne.MeasureText(value, TextSize(theme.SizeNameCaptionText), fyne.TextStyle{}).Width
			text(value, width-wide, y+1, wide)
		}
	}
}

// drawBar draws the parts of bar i, which stands at a position and is at most room high.
func (c *Chart) drawBar(i int, most float64, at fyne.Position, wide, room float32, add func(o fyne.CanvasObject, x, y, width, height float32)) {
	if c.over == i+1 {
		add(canvas.NewRectangle(ThemeColor(theme.ColorNameHover)), at.X, at.Y-room, wide, room)
	}
	for part, value := range c.bars[i].Parts {
		if most > 0 && value > 0 {
			high := max(float32(value/most)*room, 1)
			at.Y -= high
			add(canvas.NewRectangle(ThemeColor(ChartColors[part])), at.X, at.Y, wide, high)
		}
	}
}

// change sets a field of a widget, and redraws the widget if the value differs.
func change[T comparable](w fyne.Widget, field *T, value T) {
	if *field != value {
		*field = value
		w.Refresh()
	}
}

// Bar shows how full something is. Its colour warns from 80 % on.
type Bar struct {
	*fyne.Container
	value float64
	fill  *Background
}

// NewBar returns a bar; value is between 0 and 1.
func NewBar(value float64) *Bar {
	b := &Bar{fill: NewBackground(ColorWorking, "")}
	track := NewBackground(ColorTrack, "")
	b.Container = container.New(Layout{func(_ []fyne.CanvasObject, size fyne.Size) {
		track.Resize(size)
		// At least as wide as high, so that a small part still looks like a bar.
		b.fill.Resize(fyne.NewSize(max(float32(min(b.value, 1))*size.Width, size.Height), size.Height))
	}, func([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, 6) }}, track, b.fill)
	b.Set(value)
	return b
}

// Set shows another value.
func (b *Bar) Set(value float64) {
	b.value = value
	b.fill.Hidden = value <= 0
	b.fill.fill = ColorWorking
	switch {
	case value >= 0.95:
		b.fill.fill = ColorBad
	case value >= 0.8:
		b.fill.fill = ColorWaiting
	}
	b.Refresh()
}
