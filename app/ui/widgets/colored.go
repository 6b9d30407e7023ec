package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/codetext"
)

// kindColors are the colours of the pieces of code.
var kindColors = map[codetext.Kind]fyne.ThemeColorName{
	codetext.Plain: theme.ColorNameForeground, codetext.Keyword: ColorWorking, codetext.Quoted: ColorGood, codetext.Number: ColorWaiting, codetext.Comment: ColorMuted,
	codetext.Added: ColorGood, codetext.Removed: ColorBad, codetext.Place: ColorWorking, codetext.Head: ColorMuted,
}

// code returns the lines of a block of code in colours; nil: it has no hit, and its language is not known or it is long.
func (h *hits) code(language, source string) (lines [][]span) {
	for _, pieces := range codetext.Colored(language, source) {
		var line []span
		for _, p := range pieces {
			line = append(line, span{text: p.Text, color: kindColors[p.Kind]})
		}
		lines = append(lines, line)
	}
	if h.find == nil {
		return lines
	}
	isColored, before := lines != nil, len(h.places)
	if !isColored {
		for _, line := range codetext.Lines(source) {
			lines = append(lines, []span{{text: line, color: theme.ColorNameForeground}})
		}
	}
	for i, line := range lines {
		first := len(h.places)
		lines[i] = h.cut(line)
		for at := range h.places[first:] {
			h.places[first+at].share = float32(i) / float32(len(lines))
		}
	}
	if !isColored && (len(h.places) == before || len(source) > mostMarked) {
		return nil
	}
	return lines
}

// mostMarked is the size in bytes up to which a block of code whose language is not known shows its hits. In a longer one they are counted.
const mostMarked = 64 << 10

// coloredCode shows lines of code in colours. It creates the objects of its lines when it is drawn first: a conversation has many blocks that are never looked at.
type coloredCode struct {
	widget.BaseWidget
	host   *Host
	source string
	lines  [][]span
}

func (h *Host) newColoredCode(source string, lines [][]span) *coloredCode {
	c := &coloredCode{host: h, source: source, lines: lines}
	c.ExtendBaseWidget(c)
	return c
}

// TappedSecondary offers to copy the code: what is drawn in colours can't be selected.
func (c *coloredCode) TappedSecondary(ev *fyne.PointEvent) {
	menu := fyne.NewMenu("", fyne.NewMenuItem("Copy this block", func() { fyne.CurrentApp().Clipboard().SetContent(c.source) }))
	widget.ShowPopUpMenuAtPosition(menu, c.host.Window.Canvas(), ev.AbsolutePosition)
}

// coloredRenderer creates its parts when Fyne first asks for them.
type coloredRenderer struct {
	Renderer
	code *coloredCode
}

// CreateRenderer implements fyne.Widget.
func (c *coloredCode) CreateRenderer() fyne.WidgetRenderer {
	r := &coloredRenderer{code: c}
	mono, size := fyne.TextStyle{Monospace: true}, TextSize(theme.SizeNameText)
	width := float32(0)
	for _, line := range c.lines {
		width = max(width, fyne.MeasureText(textOf(line), size, mono).Width)
	}
	r.Widget = c
	r.Min = func() fyne.Size { return fyne.NewSize(width, float32(len(c.lines))*codeRowHeight) }
	r.Arrange = func(fyne.Size) {}
	r.Update = func() { r.Parts = nil }
	return r
}

// Objects returns the texts.
func (r *coloredRenderer) Objects() []fyne.CanvasObject {
	if r.Parts != nil {
		return r.Parts
	}
	for i, line := range r.code.lines {
		x := float32(0)
		for _, p := range line {
			t := canvas.NewText(p.text, ThemeColor(p.color))
			t.TextStyle = fyne.TextStyle{Monospace: true, Underline: p.style.Underline}
			t.TextSize = TextSize(theme.SizeNameText)
			width := t.MinSize().Width
			if p.isHit {
				mark := canvas.NewRectangle(ThemeColor(ColorHit))
				Place(mark, x, float32(i)*codeRowHeight, width, codeRowHeight)
				r.Parts = append(r.Parts, mark)
			}
			Place(t, x, float32(i)*codeRowHeight, width, codeRowHeight)
			x += width
			r.Parts = append(r.Parts, t)
		}
	}
	return r.Parts
}
