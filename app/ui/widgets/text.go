package widgets

import (
	"slices"
	"sort"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/rivo/uniseg"
)

// graphemes returns the byte offsets at which the characters of s end, as a reader counts characters. The first
// element is 0.
func graphemes(s string) []int {
	ends := []int{0}
	for g := uniseg.NewGraphemes(s); g.Next(); {
		_, end := g.Positions()
		ends = append(ends, end)
	}
	return ends
}

// Truncate shortens s to width, in Fyne's units, and ends it with an ellipsis. It never splits what a reader sees as
// one character.
func Truncate(s string, width, size float32, style fyne.TextStyle) string {
	return truncate(s, width, size, style, func(ends []int, keep int) string {
		return strings.TrimRight(s[:ends[keep]], " ") + "…"
	})
}

// TruncatePath shortens s to width in its middle. It keeps more of the end than of the start, because the ends
// distinguish paths.
func TruncatePath(s string, width, size float32, style fyne.TextStyle) string {
	return truncate(s, width, size, style, func(ends []int, keep int) string {
		front := keep / 3
		return strings.TrimRight(s[:ends[front]], " ") + "…" + s[ends[len(ends)-1-keep+front]:]
	})
}

// truncate returns s if it fits, and otherwise the longest result of cut that fits. cut keeps a number of characters.
func truncate(s string, width, size float32, style fyne.TextStyle, cut func(ends []int, keep int) string) string {
	measure := func(s string) float32 { return fyne.MeasureText(s, size, style).Width }
	switch {
	case width <= 0:
		return ""
	case measure(s) <= width:
		return s
	}
	ends := graphemes(s)
	return cut(ends, sort.Search(len(ends)-2, func(n int) bool { return measure(cut(ends, n+1)) > width }))
}

// Line is a text on one line, in a colour of the theme. It is shortened to the width that it gets.
type Line struct {
	widget.BaseWidget
	text     string
	color    fyne.ThemeColorName
	size     fyne.ThemeSizeName
	style    fyne.TextStyle
	align    fyne.TextAlign
	isWhole  bool // the line is as wide as its text
	truncate func(s string, width, size float32, style fyne.TextStyle) string
}

// NewLine returns a line.
func NewLine(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName, style fyne.TextStyle) *Line {
	l := &Line{text: text, color: color, size: size, style: style, truncate: Truncate}
	l.ExtendBaseWidget(l)
	return l
}

// NewCaption returns a line in small, muted letters.
func NewCaption(text string) *Line {
	return NewLine(text, ColorMuted, theme.SizeNameCaptionText, fyne.TextStyle{})
}

// NewTitle returns a line in bold letters.
func NewTitle(text string) *Line {
	return NewLine(text, theme.ColorNameForeground, theme.SizeNameText, fyne.TextStyle{Bold: true})
}

// Path makes the line shorten its text in the middle, and returns it. It is for texts that are or end with a path.
func (l *Line) Path() *Line {
	l.truncate = TruncatePath
	return l
}

// CutBy makes the line shorten its text by a function, which returns s in at most so many cells, and returns the line.
func (l *Line) CutBy(cut func(s string, cells int) string) *Line {
	l.truncate = func(s string, width, size float32, style fyne.TextStyle) string {
		cells := uniseg.StringWidth(s)
		return truncate(s, width, size, style, func(ends []int, keep int) string { return cut(s, keep*cells/(len(ends)-1)) })
	}
	return l
}

// Whole makes the minimum width of the line as wide as its text, and returns the line.
func (l *Line) Whole() *Line {
	l.isWhole = true
	return l
}

// Trailing aligns the text to the right, and returns the line.
func (l *Line) Trailing() *Line {
	l.align = fyne.TextAlignTrailing
	return l
}

// Text returns the whole text.
func (l *Line) Text() string { return l.text }

// Set shows another text.
func (l *Line) Set(text string, color fyne.ThemeColorName) {
	if l.text != text || l.color != color {
		l.text, l.color = text, color
		l.Refresh()
	}
}

// SetFont changes the size and the weight.
func (l *Line) SetFont(size fyne.ThemeSizeName, bold bool) {
	if l.size != size || l.style.Bold != bold {
		l.size, l.style.Bold = size, bold
		l.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (l *Line) CreateRenderer() fyne.WidgetRenderer {
	text := canvas.NewText("", nil)
	r := &Renderer{Widget: l, Parts: []fyne.CanvasObject{text}}
	r.Arrange = func(size fyne.Size) {
		text.Text = l.truncate(l.text, size.Width, text.TextSize, l.style)
		text.Resize(size)
		text.Refresh() // Fyne does not redraw a text whose size alone has changed
	}
	r.Min = func() fyne.Size {
		full := fyne.MeasureText(l.text, TextSize(l.size), l.style)
		if l.isWhole {
			return full
		}
		return fyne.NewSize(min(full.Width, 40), full.Height) // room for a short word; a line is shortened to the width that it gets
	}
	r.Update = func() {
		text.Color = ThemeColor(l.color)
		text.TextSize = TextSize(l.size)
		text.TextStyle = l.style
		text.Alignment = l.align
	}
	r.Refresh()
	return r
}

// SelectText is a wrapped text that the user can select with the mouse, to copy it. It never has the focus: the keys stay the window's. Fyne 2.8.1's own
// selectable label takes the focus from a click, also when it is no longer shown, and keeps every key and shortcut from the window.
type SelectText struct {
	widget.Label
	selection labelSelection      // Fyne's, which is not in the window, and so cannot take the focus
	marks     fyne.WidgetRenderer // draws the selection
}

// labelSelection is the part of Fyne's selectable label that the mouse selects with.
type labelSelection interface {
	fyne.Widget
	fyne.Focusable
	fyne.Draggable
	fyne.DoubleTappable
	desktop.Mouseable
}

// selected is the text that the user pressed the mouse on last, the only one whose selection is marked; nil: there was none.
var selected *SelectText

// CopySelected copies what the user has selected of a text.
func CopySelected() {
	if selected == nil {
		return
	}
	if text := selected.SelectedText(); text != "" {
		fyne.CurrentApp().Clipboard().SetContent(text)
	}
}

// NewSelectText returns a text that breaks between words.
func NewSelectText(text string) *SelectText {
	t := &SelectText{Label: widget.Label{Text: text, Wrapping: fyne.TextWrapWord, Selectable: true}}
	t.ExtendBaseWidget(t)
	return t
}

// NewCode returns a text in a fixed-width font, such as a path, an id, a command or its output. A word that is wider than the text breaks at any character.
func NewCode(text string) *SelectText {
	t := NewSelectText(text)
	t.TextStyle.Monospace = true
	return t
}

// SetText shows another text. If the text is the same, the selection stays.
func (t *SelectText) SetText(text string) { SetLabel(&t.Label, text) }

// SetLabel shows another text in l, which is redrawn only if the text differs.
func SetLabel(l *widget.Label, text string) {
	if l.Text != text {
		l.SetText(text)
	}
}

// MouseDown begins a selection, and ends that of another text.
func (t *SelectText) MouseDown(ev *desktop.MouseEvent) {
	if selected != nil && selected != t {
		selected.change(labelSelection.FocusLost)
	}
	selected = t
	t.change(labelSelection.FocusGained)
	t.change(func(s labelSelection) { s.MouseDown(ev) })
}

// MouseUp ends what MouseDown began.
func (t *SelectText) MouseUp(ev *desktop.MouseEvent) {
	t.change(func(s labelSelection) { s.MouseUp(ev) })
}

// Dragged selects up to the pointer.
func (t *SelectText) Dragged(ev *fyne.DragEvent) {
	t.change(func(s labelSelection) { s.Dragged(ev) })
}

// DragEnd ends what Dragged began.
func (t *SelectText) DragEnd() { t.change(labelSelection.DragEnd) }

// DoubleTapped selects a word.
func (t *SelectText) DoubleTapped(ev *fyne.PointEvent) {
	t.change(func(s labelSelection) { s.DoubleTapped(ev) })
}

// TappedSecondary offers to copy what is selected.
func (t *SelectText) TappedSecondary(ev *fyne.PointEvent) {
	menu := fyne.NewMenu("", fyne.NewMenuItem("Copy", CopySelected))
	widget.ShowPopUpMenuAtPosition(menu, fyne.CurrentApp().Driver().CanvasForObject(t), ev.AbsolutePosition)
}

// Cursor returns the cursor of a text.
func (t *SelectText) Cursor() desktop.Cursor { return desktop.TextCursor }

// change changes the selection and draws it.
func (t *SelectText) change(do func(labelSelection)) {
	do(t.selection)
	t.marks.Refresh()
	canvas.Refresh(t)
}

// CreateRenderer implements fyne.Widget.
func (t *SelectText) CreateRenderer() fyne.WidgetRenderer {
	r := &selectRenderer{t.Label.CreateRenderer(), t}
	t.selection = r.WidgetRenderer.Objects()[0].(labelSelection)
	t.marks = t.selection.CreateRenderer()
	return r
}

// selectRenderer draws a label and what is selected of it, without the part of the label that takes the focus.
type selectRenderer struct {
	fyne.WidgetRenderer
	text *SelectText
}

// Objects returns what is drawn.
func (r *selectRenderer) Objects() []fyne.CanvasObject {
	return slices.Concat(r.text.marks.Objects(), r.WidgetRenderer.Objects()[1:])
}

// LongText is a text whose second part is shown on demand.
type LongText struct {
	Content     fyne.CanvasObject
	show        func(text string, h *hits)
	link        *Link // nil: the text has one part
	first, rest string
	drawn       string // the text that is shown
	expanded    bool
	hits        hits
	resized     func()
}

// NewLongText shows text, and rest on demand unless it is empty. resized is called when the height may have changed; it
// may be nil.
func (h *Host) NewLongText(text *SelectText, first, rest string, resized func()) *LongText {
	content := container.NewStack(text)
	return h.newLongText(content, func(whole string, found *hits) {
		text.SetText(whole)
		color := map[bool]fyne.ThemeColorName{true: ColorMuted, false: theme.ColorNameForeground}[text.Importance == widget.LowImportance]
		o := fyne.CanvasObject(text)
		if found.find != nil {
			marked := found.paragraph([]span{{text: whole, style: text.TextStyle, color: color}})
			if len(found.places) > 0 {
				o = marked
			}
		}
		if content.Objects[0] != o {
			content.Objects[0] = o
			content.Refresh()
		}
	}, first, rest, resized)
}

// newLongText shows in content, by calling show, a text whose second part is rest.
func (h *Host) newLongText(content fyne.CanvasObject, show func(string, *hits), first, rest string, resized func()) *LongText {
	t := &LongText{Content: content, show: show, resized: resized}
	if rest != "" {
		t.link = h.NewLink("Show all", t.Toggle)
		t.Content = Rows(-6, content, t.link)
	}
	t.Set(first, rest)
	return t
}

// Set shows another text. It must not be called with a second part if the text has none, or without one if it has.
func (t *LongText) Set(first, rest string) {
	t.first, t.rest = first, rest
	t.draw()
}

// draw shows the text, or its first part.
func (t *LongText) draw() {
	isMarked := len(t.hits.places) > 0
	t.hits.places = nil
	if t.hits.find != nil {
		t.drawn = t.first + t.rest
		t.show(t.drawn, &t.hits)
	}
	if t.link != nil {
		SetVisible(t.link, len(t.hits.places) == 0)
	}
	if len(t.hits.places) > 0 {
		return
	}
	text := t.first
	switch {
	case t.expanded:
		text += t.rest
	case t.rest != "":
		text += "…"
	}
	if isMarked && t.hits.find == nil || text != t.drawn {
		t.drawn = text
		t.show(text, &hits{})
	}
}

// Toggle shows or hides the second part.
func (t *LongText) Toggle() {
	t.expanded = !t.expanded
	t.link.SetText(map[bool]string{true: "Show less", false: "Show all"}[t.expanded])
	t.draw()
	if t.resized != nil {
		t.resized()
	}
}

// CopyMark is an icon that copies a text when it is clicked. The Tab key does not stop at it: a conversation has hundreds of them.
type CopyMark struct {
	widget.BaseWidget
	host  *Host
	image *canvas.Image
	text  func() string
}

var copyIcon = NewIcon("copy", ColorMuted)

// NewCopyMark returns an icon that copies what text returns.
func (h *Host) NewCopyMark(text func() string) *CopyMark {
	m := &CopyMark{host: h, image: NewImage(copyIcon, 14), text: text}
	m.ExtendBaseWidget(m)
	return m
}

// Tapped copies the text, and shows for a moment that it was copied.
func (m *CopyMark) Tapped(*fyne.PointEvent) {
	fyne.CurrentApp().Clipboard().SetContent(m.text())
	SetImage(m.image, NewIcon("done", ColorGood))
	time.AfterFunc(copiedFor, func() { m.host.Post(func() { SetImage(m.image, copyIcon) }) })
}

// Cursor returns the cursor of what can be clicked.
func (m *CopyMark) Cursor() desktop.Cursor { return desktop.PointerCursor }

// CreateRenderer implements fyne.Widget.
func (m *CopyMark) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(m.image) }

// Paragraph returns a wrapped text that the user cannot select.
func Paragraph(text string, importance widget.Importance) *widget.Label {
	l := widget.NewLabel(text)
	l.Wrapping = fyne.TextWrapWord
	l.Importance = importance
	return l
}

// Hint returns a paragraph that explains the widgets near it.
func Hint(text string) *widget.Label { return Paragraph(text, widget.LowImportance) }

// Headline returns the title of a page, a dialog or a session.
func Headline(text string) *widget.Label {
	l := Paragraph(text, widget.MediumImportance)
	l.TextStyle.Bold = true
	l.SizeName = theme.SizeNameSubHeadingText
	return l
}
