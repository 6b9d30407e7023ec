package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Tab is a tab in the top bar. It opens a page.
type Tab struct {
	widget.BaseWidget
	host                     *Host
	text                     string
	icon                     fyne.Resource // shown after the text; nil: none
	active, focused, hovered bool
	tapped                   func()
}

var (
	_ fyne.Focusable    = (*Tab)(nil)
	_ fyne.Tappable     = (*Tab)(nil)
	_ fyne.Accessible   = (*Tab)(nil)
	_ desktop.Hoverable = (*Tab)(nil)
)

// NewTab returns a tab that is not active.
func (h *Host) NewTab(text string, tapped func()) *Tab {
	t := &Tab{host: h, text: text, tapped: tapped}
	t.ExtendBaseWidget(t)
	return t
}

// SetActive marks the tab as the one whose page is shown.
func (t *Tab) SetActive(on bool) { change(t, &t.active, on) }

// Text returns the text.
func (t *Tab) Text() string { return t.text }

// SetText shows another text.
func (t *Tab) SetText(text string) { change(t, &t.text, text) }

// SetIcon shows an icon after the text; nil: none.
func (t *Tab) SetIcon(icon fyne.Resource) { change(t, &t.icon, icon) }

// change sets a field of a widget, and redraws the widget if the value differs.
func change[T comparable](w fyne.Widget, field *T, value T) {
	if *field != value {
		*field = value
		w.Refresh()
	}
}

// Tapped opens the tab's page.
func (t *Tab) Tapped(*fyne.PointEvent) { t.tapped() }

// FocusGained shows that the tab has the focus.
func (t *Tab) FocusGained() { change(t, &t.focused, true) }

// FocusLost shows that the tab no longer has the focus.
func (t *Tab) FocusLost() { change(t, &t.focused, false) }

// MouseIn highlights the tab.
func (t *Tab) MouseIn(*desktop.MouseEvent) { change(t, &t.hovered, true) }

// MouseMoved does nothing.
func (t *Tab) MouseMoved(*desktop.MouseEvent) {}

// MouseOut ends the highlight.
func (t *Tab) MouseOut() { change(t, &t.hovered, false) }

// TypedRune does nothing.
func (t *Tab) TypedRune(rune) {}

// TypedKey handles a key while the tab has the focus.
func (t *Tab) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeySpace || isEnter(ev) {
		t.tapped()
		return
	}
	t.host.Key(ev)
}

// AccessibilityLabel returns the tab's text.
func (t *Tab) AccessibilityLabel() string { return t.text }

// AccessibilityRole returns the role of a button, since Fyne has no role for tabs.
func (t *Tab) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

const (
	tabPad  = 10
	tabIcon = 14
)

// CreateRenderer implements fyne.Widget.
func (t *Tab) CreateRenderer() fyne.WidgetRenderer {
	back, under := newRectangle(6), newRectangle(1)
	text, icon := canvas.NewText(t.text, nil), NewImage(nil, tabIcon)
	text.TextSize = TextSize(theme.SizeNameText)
	r := &Renderer{Widget: t, Parts: []fyne.CanvasObject{back, text, icon, under}}
	r.Arrange = func(size fyne.Size) {
		Place(back, 0, 3, size.Width, size.Height-8)
		textSize := text.MinSize()
		Place(text, tabPad, (size.Height-2-textSize.Height)/2, textSize.Width, textSize.Height)
		Place(icon, tabPad+textSize.Width+5, (size.Height-2-tabIcon)/2, tabIcon, tabIcon)
		Place(under, tabPad, size.Height-2, size.Width-2*tabPad, 2)
	}
	r.Min = func() fyne.Size {
		// The width of the bold text, so that the tabs do not move when another one becomes active.
		w := fyne.MeasureText(t.text, text.TextSize, fyne.TextStyle{Bold: true}).Width
		if t.icon != nil {
			w += tabIcon + 5
		}
		return fyne.NewSize(w+2*tabPad, 36)
	}
	r.Update = func() {
		text.Text, text.TextStyle.Bold = t.text, t.active
		text.Color = ThemeColor(ColorMuted)
		back.FillColor, under.FillColor = color.Transparent, color.Transparent
		if t.active {
			text.Color = ThemeColor(theme.ColorNameForeground)
			under.FillColor = ThemeColor(theme.ColorNamePrimary)
		}
		switch {
		case t.focused:
			back.FillColor = ThemeColor(theme.ColorNameFocus)
		case t.hovered:
			back.FillColor = ThemeColor(theme.ColorNameHover)
		}
		icon.Resource = t.icon
		icon.Hidden = t.icon == nil
	}
	r.Refresh()
	return r
}

func newRectangle(radius float32) *canvas.Rectangle {
	r := canvas.NewRectangle(nil)
	r.CornerRadius = radius
	return r
}
