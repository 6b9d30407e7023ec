package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// button is Fyne's button that Enter presses as well as Space, and that hands
// on the keys it has no use for, such as F5.
type button struct {
	widget.Button
	keys func(*fyne.KeyEvent)
}

func newButton(text string, icon fyne.Resource, keys func(*fyne.KeyEvent), tapped func()) *button {
	b := &button{keys: keys}
	b.Text, b.Icon, b.OnTapped = text, icon, tapped
	b.ExtendBaseWidget(b)
	return b
}

// TypedKey is called for each key while the button has the focus.
func (b *button) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		b.Tapped(nil)
		return
	}
	b.keys(ev)
}

// tab is one of the words at the top that choose the page.
type tab struct {
	widget.BaseWidget
	text                     string
	icon                     fyne.Resource // a sign after the text; nil: none
	active, focused, hovered bool
	tapped                   func()
	keys                     func(*fyne.KeyEvent)
}

var (
	_ fyne.Focusable    = (*tab)(nil)
	_ fyne.Tappable     = (*tab)(nil)
	_ fyne.Accessible   = (*tab)(nil)
	_ desktop.Hoverable = (*tab)(nil)
)

func newTab(text string, keys func(*fyne.KeyEvent), tapped func()) *tab {
	t := &tab{text: text, tapped: tapped, keys: keys}
	t.ExtendBaseWidget(t)
	return t
}

func (t *tab) Tapped(*fyne.PointEvent)        { t.tapped() }
func (t *tab) FocusGained()                   { t.focused = true; t.Refresh() }
func (t *tab) FocusLost()                     { t.focused = false; t.Refresh() }
func (t *tab) MouseIn(*desktop.MouseEvent)    { t.hovered = true; t.Refresh() }
func (t *tab) MouseMoved(*desktop.MouseEvent) {}
func (t *tab) MouseOut()                      { t.hovered = false; t.Refresh() }
func (t *tab) TypedRune(rune)                 {}

func (t *tab) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		t.tapped()
		return
	}
	t.keys(ev)
}

// AccessibilityLabel is the tab's word.
func (t *tab) AccessibilityLabel() string { return t.text }

// AccessibilityRole is that of a button: Fyne has none for tabs.
func (t *tab) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

func (t *tab) CreateRenderer() fyne.WidgetRenderer {
	r := &tabRenderer{
		t: t, back: canvas.NewRectangle(nil), text: canvas.NewText(t.text, nil),
		sign: canvas.NewImageFromResource(nil), under: canvas.NewRectangle(nil),
	}
	r.back.CornerRadius = 6
	r.under.CornerRadius = 1
	r.sign.FillMode = canvas.ImageFillContain
	r.Refresh()
	return r
}

type tabRenderer struct {
	t           *tab
	back, under *canvas.Rectangle
	text        *canvas.Text
	sign        *canvas.Image
}

const (
	tabPad  = 10
	tabSign = 14
)

func (r *tabRenderer) Layout(size fyne.Size) {
	r.back.Move(fyne.NewPos(0, 3))
	r.back.Resize(fyne.NewSize(size.Width, size.Height-8))
	textSize := r.text.MinSize()
	r.text.Move(fyne.NewPos(tabPad, (size.Height-2-textSize.Height)/2))
	r.sign.Move(fyne.NewPos(tabPad+textSize.Width+5, (size.Height-2-tabSign)/2))
	r.sign.Resize(fyne.NewSquareSize(tabSign))
	r.under.Move(fyne.NewPos(tabPad, size.Height-2))
	r.under.Resize(fyne.NewSize(size.Width-2*tabPad, 2))
}

func (r *tabRenderer) MinSize() fyne.Size {
	// The bold width, so that nothing moves when another tab is chosen.
	w := fyne.MeasureText(r.t.text, r.text.TextSize, fyne.TextStyle{Bold: true}).Width
	if r.t.icon != nil {
		w += tabSign + 5
	}
	return fyne.NewSize(w+2*tabPad, 36)
}

func (r *tabRenderer) Refresh() {
	r.text.Text = r.t.text
	r.text.TextSize = sizes[theme.SizeNameText]
	r.text.TextStyle.Bold = r.t.active
	r.text.Color = themeColor(colorMuted)
	r.back.FillColor, r.under.FillColor = color.Transparent, color.Transparent
	if r.t.active {
		r.text.Color = themeColor(theme.ColorNameForeground)
		r.under.FillColor = themeColor(theme.ColorNamePrimary)
	}
	switch {
	case r.t.focused:
		r.back.FillColor = themeColor(theme.ColorNameFocus)
	case r.t.hovered:
		r.back.FillColor = themeColor(theme.ColorNameHover)
	}
	r.sign.Resource = r.t.icon
	r.sign.Hidden = r.t.icon == nil
	r.Layout(r.t.Size())
	for _, o := range r.Objects() {
		o.Refresh()
	}
}

func (r *tabRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.back, r.text, r.sign, r.under}
}

func (r *tabRenderer) Destroy() {}

// filterEntry is the filter field: Escape clears it, Down goes to the list, and
// the window's own shortcuts work while it has the focus.
type filterEntry struct {
	widget.Entry
	keys      func(*fyne.KeyEvent)
	shortcuts func(fyne.Shortcut) bool
	toList    func()
}

func newFilterEntry(placeholder string) *filterEntry {
	e := &filterEntry{}
	e.PlaceHolder = placeholder
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey is called for each key while the field has the focus.
func (e *filterEntry) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		if e.Text == "" {
			e.toList()
			return
		}
		e.SetText("")
	case fyne.KeyDown, fyne.KeyReturn, fyne.KeyEnter:
		e.toList()
	case fyne.KeyF5:
		e.keys(ev)
	default:
		e.Entry.TypedKey(ev)
	}
}

// TypedShortcut is called for each shortcut while the field has the focus.
func (e *filterEntry) TypedShortcut(s fyne.Shortcut) {
	if !e.shortcuts(s) {
		e.Entry.TypedShortcut(s)
	}
}
