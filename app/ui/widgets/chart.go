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

// Set shows other bars; most is the largest value in words.
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
	// fewBars is up to how many bars each has a label, which may be cut. Of more, those
	// have one that have room for all of it.
	fewBars = 8
)

// CreateRenderer implements fyne.Widget.
func (c *Chart) CreateRenderer() fyne.WidgetRenderer {
	return &chartRenderer{chart: c}
}

type chartRenderer struct {
	chart *Chart
	parts []fyne.CanvasObject
}

// MinSize implements fyne.WidgetRenderer.
func (r *chartRenderer) MinSize() fyne.Size { return fyne.NewSize(200, chartHeight) }

// Objects implements fyne.WidgetRenderer.
func (r *chartRenderer) Objects() []fyne.CanvasObject { return r.parts }

// Destroy does nothing.
func (r *chartRenderer) Destroy() {}

// Refresh draws the chart again.
func (r *chartRenderer) Refresh() {
	r.Layout(r.chart.Size())
	canvas.Refresh(r.chart)
}

// Layout draws the chart in this size.
func (r *chartRenderer) Layout(size fyne.Size) {
	r.parts = nil
	bars := r.chart.bars
	if len(bars) == 0 || size.Width < 10 {
		return
	}
	most := 0.0
	for _, b := range bars {
		most = max(most, b.Value)
	}
	floor := size.Height - chartLabel
	room := floor - chartLabel
	widest := float32(widestBar)
	if len(bars) <= fewBars {
		widest = widestOfFew
	}
	step := min(size.Width/float32(len(bars)), widest+chartGap)
	wide := max(step-chartGap, 1)
	r.text(r.chart.most, 0, 0, size.Width)
	line := canvas.NewRectangle(ThemeColor(ColorTrack))
	line.Resize(fyne.NewSize(size.Width, 1))
	line.Move(fyne.NewPos(0, floor))
	r.parts = append(r.parts, line)
	free := float32(0) // where the next label may begin
	for i, b := range bars {
		x := float32(i) * step
		if most > 0 && b.Value > 0 {
			high := max(float32(b.Value/most)*room, 1)
			bar := newRectangle(2)
			bar.FillColor = ThemeColor(ColorWorking)
			bar.Resize(fyne.NewSize(wide, high))
			bar.Move(fyne.NewPos(x, floor-high))
			r.parts = append(r.parts, bar)
		}
		width := fyne.MeasureText(b.Label, TextSize(theme.SizeNameCaptionText), fyne.TextStyle{}).Width
		switch {
		case x < free:
		case width <= wide+2, len(bars) > fewBars && x+width <= size.Width:
			r.text(b.Label, x, floor+2, width)
			free = x + width + 8
		case len(bars) <= fewBars:
			r.text(Truncate(b.Label, wide, TextSize(theme.SizeNameCaptionText), fyne.TextStyle{}), x, floor+2, wide)
			free = x + step
		}
	}
}

func (r *chartRenderer) text(text string, x, y, width float32) {
	t := canvas.NewText(text, ThemeColor(ColorMuted))
	t.TextSize = TextSize(theme.SizeNameCaptionText)
	t.Resize(fyne.NewSize(width, chartLabel))
	t.Move(fyne.NewPos(x, y))
	r.parts = append(r.parts, t)
}
