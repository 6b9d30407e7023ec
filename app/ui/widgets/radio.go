package widgets

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Radio selects one of a few options, which it shows side by side. The Tab key stops at it once, and the arrow keys
// select.
type Radio struct {
	widget.BaseWidget
	Selected string // the selected option; read only
	host     *Host
	options  []string
	changed  func(string)
	focused  bool
}

var (
	_ fyne.Focusable     = (*Radio)(nil)
	_ fyne.Tappable      = (*Radio)(nil)
	_ desktop.Cursorable = (*Radio)(nil)
)

// NewRadio returns a radio whose first option is selected.
func (h *Host) NewRadio(options []string, changed func(string)) *Radio {
	r := &Radio{Selected: options[0], host: h, options: options, changed: changed}
	r.ExtendBaseWidget(r)
	return r
}

// Select selects an option.
func (r *Radio) Select(option string) {
	if r.Selected == option {
		return
	}
	r.Selected = option
	r.Refresh()
	r.changed(option)
}

// FocusGained shows that the radio has the focus, and scrolls to it.
func (r *Radio) FocusGained() {
	change(r, &r.focused, true)
	r.host.scrollTo(r)
}

// FocusLost shows that the radio no longer has the focus.
func (r *Radio) FocusLost() { change(r, &r.focused, false) }

// TypedRune does nothing.
func (r *Radio) TypedRune(rune) {}

// Cursor returns the pointer.
func (r *Radio) Cursor() desktop.Cursor { return desktop.PointerCursor }

// TypedKey handles a key while the radio has the focus.
func (r *Radio) TypedKey(ev *fyne.KeyEvent) {
	step := 0
	switch ev.Name {
	case fyne.KeyLeft, fyne.KeyUp:
		step = -1
	case fyne.KeyRight, fyne.KeyDown, fyne.KeySpace:
		step = 1
	default:
		r.host.Key(ev)
		return
	}
	at := slices.Index(r.options, r.Selected) + step + len(r.options)
	r.Select(r.options[at%len(r.options)])
}

// Tapped selects the option that was tapped.
func (r *Radio) Tapped(ev *fyne.PointEvent) {
	x := float32(0)
	for _, o := range r.options {
		if x += radioWidth(o); ev.Position.X < x {
			r.Select(o)
			break
		}
	}
	r.host.Focus(r)
}

const (
	radioHeight = 28
	radioLeft   = 6  // space before the circle
	radioText   = 18 // from the left of the circle to the text
	radioGap    = 14
	radioCircle = 13
)

func radioWidth(option string) float32 {
	return radioLeft + radioText + fyne.MeasureText(option, TextSize(theme.SizeNameText), fyne.TextStyle{}).Width + radioGap
}

// radioOption holds the canvas objects of one option.
type radioOption struct {
	glow, ring, dot *canvas.Circle
	text            *canvas.Text
}

// CreateRenderer implements fyne.Widget.
func (r *Radio) CreateRenderer() fyne.WidgetRenderer {
	x := &Renderer{Widget: r}
	width := float32(0)
	var options []radioOption
	for _, o := range r.options {
		item := radioOption{canvas.NewCircle(nil), canvas.NewCircle(nil), canvas.NewCircle(nil), canvas.NewText(o, nil)}
		item.text.TextSize, item.ring.StrokeWidth = TextSize(theme.SizeNameText), 1.5
		options = append(options, item)
		x.Parts = append(x.Parts, item.glow, item.ring, item.dot, item.text)
		width += radioWidth(o)
	}
	x.Min = func() fyne.Size { return fyne.NewSize(width, radioHeight) }
	x.Arrange = func(size fyne.Size) {
		left := float32(0)
		for i, item := range options {
			center := fyne.NewPos(left+radioLeft+radioCircle/2, size.Height/2)
			for circle, d := range map[*canvas.Circle]float32{item.glow: radioCircle + 10, item.ring: radioCircle, item.dot: radioCircle - 6} {
				Place(circle, center.X-d/2, center.Y-d/2, d, d)
			}
			item.text.Move(fyne.NewPos(left+radioLeft+radioText, (size.Height-item.text.MinSize().Height)/2))
			left += radioWidth(r.options[i])
		}
	}
	x.Update = func() {
		for i, item := range options {
			item.text.Color = ThemeColor(theme.ColorNameForeground)
			item.ring.FillColor, item.ring.StrokeColor = ThemeColor(theme.ColorNameInputBackground), ThemeColor(theme.ColorNameInputBorder)
			item.dot.FillColor, item.glow.FillColor = color.Transparent, color.Transparent
			if r.options[i] != r.Selected {
				continue
			}
			item.dot.FillColor, item.ring.StrokeColor = ThemeColor(theme.ColorNamePrimary), ThemeColor(theme.ColorNamePrimary)
			if r.focused {
				item.glow.FillColor = ThemeColor(theme.ColorNameFocus)
			}
		}
	}
	x.Refresh()
	return x
}
