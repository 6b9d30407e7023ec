package widgets

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Tab is an entry of the window's sidebar: a flat button with an icon, and above it a text and a number. A compact tab shows the icon and the number.
type Tab struct {
	Button
	Content    *fyne.Container // the tab with what is below and above it
	text, icon string
	name       *Line
	number     *Line
	mark       *Background // below the active tab
	shown      tabState
}

// tabState is what a tab shows.
type tabState struct {
	active, compact bool
	count           int                 // not shown if it is 0
	color           fyne.ThemeColorName // of the icon and the number
}

const (
	tabHeight  = 30
	tabPad     = 10
	tabIcon    = 24 // the end of the icon
	tabCompact = 42 // the width of a compact tab
	mostCount  = 99 // larger numbers are shown as "99+" where there is little room
)

// NewTab returns a tab that is not active. icon is the name of an icon of this package.
func (h *Host) NewTab(text, icon string, tapped func()) *Tab {
	t := &Tab{text: text, icon: icon, name: NewLine(text, theme.ColorNameForeground, theme.SizeNameText, fyne.TextStyle{}), number: NewCaption("").Whole(), mark: NewBackground(ColorRowOn, "")}
	t.host = h
	t.OnTapped = tapped
	t.Importance = widget.LowImportance
	t.ExtendBaseWidget(t)
	t.Content = container.New(Layout{func(_ []fyne.CanvasObject, size fyne.Size) {
		Place(t.mark, 0, 0, size.Width, size.Height)
		Place(t, 0, 0, size.Width, size.Height)
		wide, left := t.number.MinSize().Width, float32(tabIcon)
		if !t.shown.compact {
			left = size.Width - tabPad - wide
		}
		Place(t.number, left, 0, wide, size.Height)
		Place(t.name, tabIcon+6, 0, left-tabIcon-10, size.Height)
	}, func([]fyne.CanvasObject) fyne.Size {
		if t.shown.compact {
			return fyne.NewSize(tabCompact, tabHeight)
		}
		return fyne.NewSize(120, tabHeight)
	}}, t.mark, t, t.name, t.number)
	t.show(tabState{color: ColorMuted})
	return t
}

// show shows a state, unless it is shown already.
func (t *Tab) show(s tabState) {
	if s == t.shown {
		return
	}
	t.shown = s
	t.mark.Hidden, t.name.Hidden = !s.active, s.compact
	t.Icon, t.Alignment = NewIcon(t.icon, s.color), widget.ButtonAlignLeading
	t.name.SetFont(theme.SizeNameText, s.active)
	t.number.SetFont(SizeSmall, s.color != ColorMuted)
	number := fmt.Sprint(s.count)
	switch {
	case s.count == 0:
		number = ""
		if s.compact {
			t.Alignment = widget.ButtonAlignCenter
		}
	case s.compact && s.count > mostCount:
		number = fmt.Sprintf("%d+", mostCount)
	}
	t.number.Set(number, s.color)
	t.Content.Refresh()
}

// SetActive marks the tab as the one whose page is shown.
func (t *Tab) SetActive(on bool) {
	s := t.shown
	s.active = on
	t.show(s)
}

// SetCompact leaves out the text.
func (t *Tab) SetCompact(on bool) {
	s := t.shown
	s.compact = on
	t.show(s)
}

// SetCount shows another number. color is that of the icon and the number, unless the number is 0.
func (t *Tab) SetCount(n int, color fyne.ThemeColorName) {
	s := t.shown
	s.count, s.color = n, map[bool]fyne.ThemeColorName{true: color, false: ColorMuted}[n > 0]
	t.show(s)
}

// Text returns the text, with the number in brackets.
func (t *Tab) Text() string {
	if t.shown.count > 0 {
		return fmt.Sprintf("%s (%d)", t.text, t.shown.count)
	}
	return t.text
}

// AccessibilityLabel returns the tab's text.
func (t *Tab) AccessibilityLabel() string { return t.Text() }

// Tapped opens what the tab stands for, which then gets the focus: a click has given it to the tab.
func (t *Tab) Tapped(ev *fyne.PointEvent) {
	t.host.Focus(nil)
	t.Button.Tapped(ev)
}

// TypedKey handles a key while the tab has the focus, which the tab keeps.
func (t *Tab) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeySpace || isEnter(ev) {
		t.OnTapped()
		return
	}
	t.host.Key(ev)
}
