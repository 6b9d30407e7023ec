package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/rivo/uniseg"
)

// fit shortens s to width, with an ellipsis, without splitting what a reader
// sees as one character.
func fit(s string, width, size float32, style fyne.TextStyle) string {
	measure := func(s string) float32 { return fyne.MeasureText(s, size, style).Width }
	if width <= 0 {
		return ""
	}
	if measure(s) <= width {
		return s
	}
	var ends []int
	for g := uniseg.NewGraphemes(s); g.Next(); {
		_, end := g.Positions()
		ends = append(ends, end)
	}
	fits, over := 0, len(ends) // how many characters fit, how many don't
	for fits+1 < over {
		mid := (fits + over) / 2
		if measure(s[:ends[mid-1]]+"…") <= width {
			fits = mid
		} else {
			over = mid
		}
	}
	if fits == 0 {
		return "…"
	}
	return strings.TrimRight(s[:ends[fits-1]], " ") + "…"
}

// fitPath shortens s to width in its middle. Two thirds of what stays are of its
// end: there stands what tells a path from its neighbours.
func fitPath(s string, width, size float32, style fyne.TextStyle) string {
	measure := func(s string) float32 { return fyne.MeasureText(s, size, style).Width }
	if width <= 0 || measure(s) <= width {
		return fit(s, width, size, style)
	}
	ends := []int{0}
	for g := uniseg.NewGraphemes(s); g.Next(); {
		_, end := g.Positions()
		ends = append(ends, end)
	}
	n := len(ends) - 1
	cut := func(keep int) string {
		front := keep / 3
		return strings.TrimRight(s[:ends[front]], " ") + "…" + s[ends[n-keep+front]:]
	}
	fits, over := 0, n
	for fits+1 < over {
		if mid := (fits + over) / 2; measure(cut(mid)) <= width {
			fits = mid
		} else {
			over = mid
		}
	}
	return cut(fits)
}

// line is a text on one line in a colour of the theme, shortened to its width.
type line struct {
	widget.BaseWidget
	text  string
	color fyne.ThemeColorName
	size  fyne.ThemeSizeName
	style fyne.TextStyle
	align fyne.TextAlign
	full  bool // it gets the width that it needs
	path  bool // it is shortened in its middle: the ends tell paths apart
}

func newLine(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName, style fyne.TextStyle) *line {
	l := &line{text: text, color: color, size: size, style: style}
	l.ExtendBaseWidget(l)
	return l
}

// newPathLine is a line for a path, or a text that ends with one.
func newPathLine(text string, size fyne.ThemeSizeName, style fyne.TextStyle) *line {
	l := newLine(text, theme.ColorNameForeground, size, style)
	l.path = true
	return l
}

func (l *line) set(text string, color fyne.ThemeColorName) {
	if l.text == text && l.color == color {
		return
	}
	l.text, l.color = text, color
	l.Refresh()
}

// whole makes the line as wide as its text.
func (l *line) whole() *line {
	l.full = true
	return l
}

func (l *line) CreateRenderer() fyne.WidgetRenderer {
	r := &lineRenderer{l: l, text: canvas.NewText("", nil)}
	r.Refresh()
	return r
}

type lineRenderer struct {
	l    *line
	text *canvas.Text
}

func (r *lineRenderer) Layout(size fyne.Size) {
	shorten := fit
	if r.l.path {
		shorten = fitPath
	}
	r.text.Text = shorten(r.l.text, size.Width, r.text.TextSize, r.text.TextStyle)
	r.text.Resize(size)
	r.text.Refresh()
}

// MinSize is one line high, and wide enough for a short word: a line takes the
// room it is given.
func (r *lineRenderer) MinSize() fyne.Size {
	full := fyne.MeasureText(r.l.text, r.text.TextSize, r.text.TextStyle)
	if r.l.full {
		return full
	}
	return fyne.NewSize(min(full.Width, 40), full.Height)
}

func (r *lineRenderer) Refresh() {
	r.text.Color = themeColor(r.l.color)
	r.text.TextSize = sizes[r.l.size]
	r.text.TextStyle = r.l.style
	r.text.Alignment = r.l.align
	r.Layout(r.l.Size())
}

func (r *lineRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.text} }
func (r *lineRenderer) Destroy()                     {}

// selectText is a label whose text the mouse can select, to copy it. It is
// selectable only under the mouse: as a Fyne label it would be a stop of the
// Tab key, without a sign that it has the focus.
type selectText struct {
	widget.Label
}

var _ desktop.Hoverable = (*selectText)(nil)

func newSelectText(text string) *selectText {
	t := &selectText{widget.Label{Text: text, Wrapping: fyne.TextWrapWord}}
	t.ExtendBaseWidget(t)
	return t
}

// MouseIn makes the text selectable.
func (t *selectText) MouseIn(*desktop.MouseEvent) { t.selectable(true) }

// MouseMoved implements desktop.Hoverable.
func (t *selectText) MouseMoved(*desktop.MouseEvent) {}

// MouseOut ends it, unless something is selected and still to be copied.
func (t *selectText) MouseOut() {
	if t.SelectedText() == "" {
		t.selectable(false)
	}
}

func (t *selectText) selectable(on bool) {
	if t.Selectable != on {
		t.Selectable = on
		t.Refresh()
	}
}

// paragraph is a wrapped text that isn't meant to be copied.
func paragraph(text string, importance widget.Importance) *widget.Label {
	l := widget.NewLabel(text)
	l.Wrapping = fyne.TextWrapWord
	l.Importance = importance
	return l
}
