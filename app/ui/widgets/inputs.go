package widgets

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// asSpace is the event that replaces Enter for widgets that only the space bar presses in Fyne.
var asSpace = &fyne.KeyEvent{Name: fyne.KeySpace}

func isEnter(ev *fyne.KeyEvent) bool { return ev.Name == fyne.KeyReturn || ev.Name == fyne.KeyEnter }

// Button is Fyne's button. Enter presses it as well as Space.
type Button struct {
	widget.Button
	Early func() // called for a key that would press the button while it is disabled; may be nil. A disabled button keeps the focus.
	Enter func() // called for Enter, which then does not press the button; nil: it does
	host  *Host
}

// NewButton returns a button; icon may be nil.
func (h *Host) NewButton(text string, icon fyne.Resource, tapped func()) *Button {
	b := &Button{host: h}
	b.Text = text
	b.Icon = icon
	b.OnTapped = tapped
	b.ExtendBaseWidget(b)
	return b
}

// NewPrimaryButton returns the button for the main action of a dialog or form. importance is its colour.
func (h *Host) NewPrimaryButton(text string, importance widget.Importance, tapped func()) *Button {
	b := h.NewButton(text, nil, tapped)
	b.Importance = importance
	return b
}

// NewFlatButton returns a button without a background.
func (h *Host) NewFlatButton(text string, icon fyne.Resource, tapped func()) *Button {
	b := h.NewButton(text, icon, tapped)
	b.Importance = widget.LowImportance
	return b
}

// SetPrimary marks the button as the one for the main action, or no longer.
func (b *Button) SetPrimary(on bool) {
	change(b, &b.Importance, map[bool]widget.Importance{true: widget.HighImportance, false: widget.MediumImportance}[on])
}

// SetEnabled enables or disables the button.
func (b *Button) SetEnabled(on bool) {
	switch {
	case on == !b.Disabled():
	case on:
		b.Enable()
	default:
		b.Disable()
	}
}

// FocusGained scrolls to the button.
func (b *Button) FocusGained() {
	b.Button.FocusGained()
	b.host.scrollTo(b)
}

// TypedKey handles a key while the button has the focus.
func (b *Button) TypedKey(ev *fyne.KeyEvent) {
	switch pressed := ev.Name == fyne.KeySpace || isEnter(ev); {
	case !pressed:
		b.host.Key(ev)
	case b.Early != nil && b.Disabled():
		b.Early()
	case b.Enter != nil && isEnter(ev):
		b.Enter()
	default:
		b.Tapped(nil)
	}
}

// CheckBox is Fyne's check box.
type CheckBox struct {
	widget.Check
	host *Host
}

// NewCheckBox returns an empty check box. changed may be nil.
func (h *Host) NewCheckBox(text string, changed func(bool)) *CheckBox {
	c := &CheckBox{host: h}
	c.Text, c.OnChanged = text, changed
	c.ExtendBaseWidget(c)
	return c
}

// Fill ticks or unticks the box without calling OnChanged.
func (c *CheckBox) Fill(on bool) {
	c.Checked = on
	c.Refresh()
}

// FocusGained scrolls to the box.
func (c *CheckBox) FocusGained() {
	c.Check.FocusGained()
	c.host.scrollTo(c)
}

// TypedKey handles a key while the box has the focus.
func (c *CheckBox) TypedKey(ev *fyne.KeyEvent) {
	if !c.host.passOn(ev) {
		c.Check.TypedKey(ev)
	}
}

// Select is Fyne's drop-down list.
type Select struct {
	widget.Select
	host *Host
}

// FocusGained scrolls to the list.
func (s *Select) FocusGained() {
	s.Select.FocusGained()
	s.host.scrollTo(s)
}

// TypedKey handles a key while the drop-down list has the focus. The arrow keys select the option before or after the selected one; Space and Enter
// open the list at the selected one.
func (s *Select) TypedKey(ev *fyne.KeyEvent) {
	switch i := s.SelectedIndex(); {
	case s.host.passOn(ev):
	case ev.Name == fyne.KeyUp || ev.Name == fyne.KeyLeft:
		s.SetSelectedIndex(i - 1)
	case ev.Name == fyne.KeyDown || ev.Name == fyne.KeyRight:
		s.SetSelectedIndex(i + 1)
	case ev.Name == fyne.KeySpace || isEnter(ev):
		s.Select.TypedKey(asSpace)
		if menu, ok := s.host.Window.Canvas().Focused().(*widget.PopUpMenu); ok {
			for range i + 1 {
				menu.ActivateNext()
			}
		}
	}
}

// Choice is a drop-down list of names that stand for values. Its List is the widget to show: Fyne finds the window of a drop-down list only if
// this widget itself is in the window's content.
type Choice[T comparable] struct {
	List   *Select
	values []T
}

// NewChoice returns a list of names, of which the one with the index first is selected.
func NewChoice[T comparable](h *Host, names []string, values []T, first int, changed func()) *Choice[T] {
	s := &Select{host: h}
	s.Options, s.OnChanged = names, func(string) { changed() }
	s.Selected = names[first]
	s.ExtendBaseWidget(s)
	return &Choice[T]{s, values}
}

// Value returns the value that is selected.
func (c *Choice[T]) Value() T { return c.values[max(c.List.SelectedIndex(), 0)] }

// Offer offers other values after the first one. It keeps the selection while its value is offered, and reports whether something changed.
func (c *Choice[T]) Offer(names []string, values []T) bool {
	names, values = append([]string{c.List.Options[0]}, names...), append([]T{c.values[0]}, values...)
	if slices.Equal(values, c.values) && slices.Equal(names, c.List.Options) {
		return false
	}
	at := max(slices.Index(values, c.Value()), 0)
	c.List.Options, c.values = names, values
	c.List.SetSelectedIndex(at)
	return true
}

// Entry is a text field of a form. The Tab key leaves it, even if it has several lines.
type Entry struct {
	widget.Entry
	Submit func()                    // called for Ctrl+Enter; may be nil
	Enter  func()                    // called for Enter in a text area, where Shift+Enter begins a new line; may be nil
	Left   func()                    // called when the entry loses the focus; may be nil
	Key    func(*fyne.KeyEvent) bool // handles a key first, and reports whether it did; may be nil
	host   *Host
	shift  bool // the Shift key is down
}

// KeyDown is called when a key is pressed.
func (e *Entry) KeyDown(ev *fyne.KeyEvent) {
	e.shift = e.shift || isShift(ev)
	e.Entry.KeyDown(ev)
}

// KeyUp is called when a key is released.
func (e *Entry) KeyUp(ev *fyne.KeyEvent) {
	e.shift = e.shift && !isShift(ev)
	e.Entry.KeyUp(ev)
}

// FocusLost ends what a key that is down does.
func (e *Entry) FocusLost() {
	e.shift = false
	e.Entry.FocusLost()
	if e.Left != nil {
		e.Left()
	}
}

func isShift(ev *fyne.KeyEvent) bool {
	return ev.Name == desktop.KeyShiftLeft || ev.Name == desktop.KeyShiftRight
}

// NewEntry returns an empty text field of one line. changed may be nil.
func (h *Host) NewEntry(placeholder string, changed func(string)) *Entry {
	e := &Entry{host: h}
	e.PlaceHolder, e.OnChanged = placeholder, changed
	e.ExtendBaseWidget(e)
	return e
}

// NewTextArea returns an empty text field of several lines, at least rows high.
func (h *Host) NewTextArea(placeholder string, rows int, changed func(string)) *Entry {
	e := h.NewEntry(placeholder, changed)
	e.MultiLine = true
	e.Wrapping = fyne.TextWrapWord
	e.SetMinRowsVisible(rows)
	return e
}

// AcceptsTab returns false: the Tab key moves the focus to the next field.
func (e *Entry) AcceptsTab() bool { return false }

// FocusGained scrolls to the entry.
func (e *Entry) FocusGained() {
	e.Entry.FocusGained()
	e.host.scrollTo(e)
}

// TypedKey handles a key while the entry has the focus.
func (e *Entry) TypedKey(ev *fyne.KeyEvent) {
	switch {
	case e.Key != nil && e.Key(ev):
	case e.host.passOn(ev):
	case e.Enter != nil && isEnter(ev) && e.shift:
		e.TypedRune('\n')
	case e.Enter != nil && isEnter(ev):
		e.Enter()
	default:
		e.Entry.TypedKey(ev)
	}
}

// TypedShortcut handles a shortcut while the entry has the focus.
func (e *Entry) TypedShortcut(s fyne.Shortcut) {
	if !e.host.formShortcut(s, e.Submit) {
		e.Entry.TypedShortcut(s)
	}
}

// Link is a text that runs a function. Enter follows it as well as Space.
type Link struct {
	widget.Hyperlink
	host *Host
}

// NewLink returns a link.
func (h *Host) NewLink(text string, tapped func()) *Link {
	l := &Link{host: h}
	l.Text, l.OnTapped = text, tapped
	l.ExtendBaseWidget(l)
	return l
}

// FocusGained scrolls to the link.
func (l *Link) FocusGained() {
	l.Hyperlink.FocusGained()
	l.host.scrollTo(l)
}

// TypedKey handles a key while the link has the focus.
func (l *Link) TypedKey(ev *fyne.KeyEvent) {
	if isEnter(ev) {
		ev = asSpace
	}
	if !l.host.passOn(ev) {
		l.Hyperlink.TypedKey(ev)
	}
}

// List is Fyne's list, with the keys of this package. It creates only the rows that are visible.
type List struct {
	widget.List
	host *Host
}

// NewList returns a list; its functions must be set before it is shown.
func (h *Host) NewList() *List {
	l := &List{host: h}
	l.ExtendBaseWidget(l)
	return l
}

// TypedKey handles a key while the list has the focus. Enter selects a row as well as Space.
func (l *List) TypedKey(ev *fyne.KeyEvent) {
	if isEnter(ev) {
		ev = asSpace
	}
	if !l.host.passOn(ev) {
		l.List.TypedKey(ev)
	}
}

// PassWheel returns a text area of a form that scrolls the form with the wheel while its own text fits.
func (h *Host) PassWheel(e *Entry) fyne.CanvasObject {
	w := &wheel{entry: e, host: h}
	w.ExtendBaseWidget(w)
	return container.NewStack(e, w)
}

// wheel is an invisible widget above a text area that takes the events of the wheel and nothing else.
type wheel struct {
	widget.BaseWidget
	entry *Entry
	host  *Host
}

// Visible reports whether the text fits: otherwise Fyne gives the events to the text area.
func (w *wheel) Visible() bool {
	rows, width := 0, w.entry.Size().Width-2*theme.InnerPadding()
	size := TextSize(theme.SizeNameText)
	for line := range strings.SplitSeq(w.entry.Text, "\n") {
		rows += 1 + int(fyne.MeasureText(head(line, 4<<10), size, fyne.TextStyle{}).Width/max(width, 1))
	}
	return float32(rows)*fyne.MeasureText("M", size, fyne.TextStyle{}).Height < w.entry.Size().Height-theme.InnerPadding()
}

// Scrolled scrolls the form.
func (w *wheel) Scrolled(ev *fyne.ScrollEvent) {
	if scrolls, _ := w.host.scrollsAround(w.entry); len(scrolls) > 0 {
		scrolls[0].Scrolled(ev)
	}
}

// CreateRenderer implements fyne.Widget.
func (w *wheel) CreateRenderer() fyne.WidgetRenderer {
	return &Renderer{Widget: w, Min: func() fyne.Size { return fyne.Size{} }, Arrange: func(fyne.Size) {}, Update: func() {}}
}

// head returns the first n bytes of s.
func head(s string, n int) string { return s[:min(len(s), n)] }
