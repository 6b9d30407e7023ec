package ui

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// radio is a choice of one of a few words, side by side. It is one stop of the
// Tab key, and the arrows choose.
type radio struct {
	widget.BaseWidget
	ui       *UI
	options  []string
	selected string
	changed  func(string)
	focused  bool
}

var (
	_ fyne.Focusable     = (*radio)(nil)
	_ fyne.Tappable      = (*radio)(nil)
	_ desktop.Cursorable = (*radio)(nil)
)

// newRadio chooses the first of options.
func newRadio(u *UI, options []string, changed func(string)) *radio {
	r := &radio{ui: u, options: options, selected: options[0], changed: changed}
	r.ExtendBaseWidget(r)
	return r
}

func (r *radio) choose(option string) {
	if r.selected == option {
		return
	}
	r.selected = option
	r.Refresh()
	r.changed(option)
}

func (r *radio) FocusGained()           { r.focused = true; r.Refresh(); r.ui.reveal(r) }
func (r *radio) FocusLost()             { r.focused = false; r.Refresh() }
func (r *radio) TypedRune(rune)         {}
func (r *radio) Cursor() desktop.Cursor { return desktop.PointerCursor }

func (r *radio) TypedKey(ev *fyne.KeyEvent) {
	step := 0
	switch ev.Name {
	case fyne.KeyLeft, fyne.KeyUp:
		step = -1
	case fyne.KeyRight, fyne.KeyDown, fyne.KeySpace:
		step = 1
	default:
		r.ui.typedKey(ev)
		return
	}
	at := slices.Index(r.options, r.selected) + step + len(r.options)
	r.choose(r.options[at%len(r.options)])
}

// Tapped chooses what was tapped.
func (r *radio) Tapped(ev *fyne.PointEvent) {
	x := float32(0)
	for _, o := range r.options {
		if x += radioWidth(o); ev.Position.X < x {
			r.choose(o)
			break
		}
	}
	r.ui.focus(r)
}

const (
	radioHeight = 28
	radioLeft   = 6  // before the sign
	radioText   = 18 // from the sign to its text
	radioGap    = 14
	radioRing   = 13
)

func radioWidth(option string) float32 {
	return radioLeft + radioText + fyne.MeasureText(option, sizes[theme.SizeNameText], fyne.TextStyle{}).Width + radioGap
}

func (r *radio) CreateRenderer() fyne.WidgetRenderer {
	x := &radioRenderer{r: r}
	for _, o := range r.options {
		item := &radioItem{canvas.NewCircle(nil), canvas.NewCircle(nil), canvas.NewCircle(nil), canvas.NewText(o, nil)}
		x.items = append(x.items, item)
		x.objects = append(x.objects, item.glow, item.ring, item.dot, item.text)
	}
	x.Refresh()
	return x
}

type radioItem struct {
	glow, ring, dot *canvas.Circle
	text            *canvas.Text
}

type radioRenderer struct {
	r       *radio
	items   []*radioItem
	objects []fyne.CanvasObject
}

func (x *radioRenderer) Layout(size fyne.Size) {
	put := func(o fyne.CanvasObject, center fyne.Position, width float32) {
		o.Resize(fyne.NewSquareSize(width))
		o.Move(center.SubtractXY(width/2, width/2))
	}
	left := float32(0)
	for i, item := range x.items {
		center := fyne.NewPos(left+radioLeft+radioRing/2, size.Height/2)
		put(item.glow, center, radioRing+10)
		put(item.ring, center, radioRing)
		put(item.dot, center, radioRing-6)
		item.text.Move(fyne.NewPos(left+radioLeft+radioText, (size.Height-item.text.MinSize().Height)/2))
		left += radioWidth(x.r.options[i])
	}
}

func (x *radioRenderer) MinSize() fyne.Size {
	w := float32(0)
	for _, o := range x.r.options {
		w += radioWidth(o)
	}
	return fyne.NewSize(w, radioHeight)
}

func (x *radioRenderer) Refresh() {
	for i, item := range x.items {
		on := x.r.options[i] == x.r.selected
		item.text.TextSize, item.text.Color = sizes[theme.SizeNameText], themeColor(theme.ColorNameForeground)
		item.ring.FillColor, item.ring.StrokeColor, item.ring.StrokeWidth = themeColor(theme.ColorNameInputBackground), themeColor(theme.ColorNameInputBorder), 1.5
		item.dot.FillColor, item.glow.FillColor = color.Transparent, color.Transparent
		if on {
			item.dot.FillColor, item.ring.StrokeColor = themeColor(theme.ColorNamePrimary), themeColor(theme.ColorNamePrimary)
			if x.r.focused {
				item.glow.FillColor = themeColor(theme.ColorNameFocus)
			}
		}
	}
	x.Layout(x.r.Size())
	for _, o := range x.objects {
		o.Refresh()
	}
}

func (x *radioRenderer) Objects() []fyne.CanvasObject { return x.objects }
func (x *radioRenderer) Destroy()                     {}
