package widgets

import (
	"fmt"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Tab is an entry of the window's sidebar: an icon, a text and a number. A compact tab shows the icon and the number.
type Tab struct {
	widget.BaseWidget
	host                     *Host
	text, icon               string
	count                    int                 // not shown if it is 0
	color                    fyne.ThemeColorName // of the icon and the number; empty: muted
	compact                  bool
	active, focused, hovered bool
	tapped                   func()
}

var (
	_ fyne.Focusable    = (*Tab)(nil)
	_ fyne.Tappable     = (*Tab)(nil)
	_ fyne.Accessible   = (*Tab)(nil)
	_ desktop.Hoverable = (*Tab)(nil)
)

// NewTab returns a tab that is not active. icon is the name of an icon of this package.
func (h *Host) NewTab(text, icon string, tapped func()) *Tab {
	t := &Tab{host: h, text: text, icon: icon, tapped: tapped, color: ColorMuted}
	t.ExtendBaseWidget(t)
	return t
}

// SetActive marks the tab as the one whose page is shown.
func (t *Tab) SetActive(on bool) { change(t, &t.active, on) }

// SetCompact leaves out the text.
func (t *Tab) SetCompact(on bool) { change(t, &t.compact, on) }

// Text returns the text, with the number in brackets.
func (t *Tab) Text() string {
	if t.count > 0 {
		return fmt.Sprintf("%s (%d)", t.text, t.count)
	}
	return t.text
}

// SetCount shows another number. color is that of the icon and the number.
func (t *Tab) SetCount(n int, color fyne.ThemeColorName) {
	change(t, &t.color, color)
	change(t, &t.count, n)
}

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
func (t *Tab) AccessibilityLabel() string { return t.Text() }

// AccessibilityRole returns the role of a button, since Fyne has no role for tabs.
func (t *Tab) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

const (
	tabHeight  = 30
	tabPad     = 10
	tabIcon    = 16
	tabCompact = 42 // the width of a compact tab
	mostCount  = 99 // larger numbers are shown as "99+" where there is little room
)

// CreateRenderer implements fyne.Widget.
func (t *Tab) CreateRenderer() fyne.WidgetRenderer {
	back, text, count, icon := newRectangle(6), canvas.NewText("", nil), canvas.NewText("", nil), NewImage(nil, tabIcon)
	r := &Renderer{Widget: t, Parts: []fyne.CanvasObject{back, icon, text, count}}
	r.Arrange = func(size fyne.Size) {
		Place(back, 0, 0, size.Width, size.Height)
		wide := count.MinSize()
		if t.compact {
			left := (size.Width - tabIcon - wide.Width) / 2
			Place(icon, left, (size.Height-tabIcon)/2, tabIcon, tabIcon)
			Place(count, left+tabIcon+1, (size.Height-wide.Height)/2, wide.Width, wide.Height)
			return
		}
		Place(icon, tabPad, (size.Height-tabIcon)/2, tabIcon, tabIcon)
		Place(count, size.Width-tabPad-wide.Width, (size.Height-wide.Height)/2, wide.Width, wide.Height)
		left := float32(tabPad + tabIcon + 9)
		text.Text = Truncate(t.text, size.Width-left-wide.Width-tabPad-4, text.TextSize, text.TextStyle)
		Place(text, left, (size.Height-text.MinSize().Height)/2, text.MinSize().Width, text.MinSize().Height)
	}
	r.Min = func() fyne.Size {
		if t.compact {
			return fyne.NewSize(tabCompact, tabHeight)
		}
		return fyne.NewSize(120, tabHeight)
	}
	r.Update = func() {
		text.TextSize, count.TextSize = TextSize(theme.SizeNameText), TextSize(theme.SizeNameCaptionText)+1
		text.TextStyle.Bold, text.Hidden = t.active, t.compact
		text.Color, count.Color = ThemeColor(theme.ColorNameForeground), ThemeColor(t.color)
		count.TextStyle.Bold = t.color != ColorMuted
		SetImage(icon, NewIcon(t.icon, t.color))
		switch count.Text = fmt.Sprint(t.count); {
		case t.count == 0:
			count.Text = ""
		case t.compact && t.count > mostCount:
			count.Text = fmt.Sprintf("%d+", mostCount)
		}
		back.FillColor = color.Transparent
		switch {
		case t.focused:
			back.FillColor = ThemeColor(theme.ColorNameFocus)
		case t.active:
			back.FillColor = ThemeColor(ColorRowOn)
		case t.hovered:
			back.FillColor = ThemeColor(theme.ColorNameHover)
		}
	}
	r.Refresh()
	return r
}

func newRectangle(radius float32) *canvas.Rectangle {
	r := canvas.NewRectangle(nil)
	r.CornerRadius = radius
	return r
}
