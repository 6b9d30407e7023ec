package ui

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// sheet is a dialog of the window: a title, a body that scrolls where the window
// is too small for it, and buttons. Escape closes it, and one is open at a time.
// It belongs to the UI goroutine.
type sheet struct {
	ui     *UI
	width  float32
	pop    *widget.PopUp
	head   *widget.Label
	body   *fyne.Container
	scroll *container.Scroll // of body
	bottom *fyne.Container
	busy   *widget.Activity // runs while the sheet says that it looks

	page   int             // below it when it opened
	ctx    context.Context // ends when the sheet is closed
	cancel func()
}

const (
	sheetWidth = 540
	sheetPad   = 16
)

// newSheet opens an empty sheet in place of the one before.
func (u *UI) newSheet(title string, width float32) *sheet {
	u.closeSheet()
	s := &sheet{ui: u, width: width, page: u.page, head: paragraph(title, widget.MediumImportance)}
	s.ctx, s.cancel = context.WithCancel(u.ctx)
	s.head.TextStyle.Bold = true
	s.head.SizeName = theme.SizeNameSubHeadingText
	s.body = container.New(layout.NewCustomPaddedVBoxLayout(2))
	s.bottom = container.New(&trailing{gap: 6})
	s.scroll = container.NewVScroll(s.body)
	frame := container.NewBorder(s.head, container.New(layout.NewCustomPaddedLayout(12, 4, 0, 6), s.bottom), nil, nil, s.scroll)
	s.pop = widget.NewModalPopUp(container.New(layout.NewCustomPaddedLayout(8, 8, sheetPad-6, sheetPad-6), frame), u.window.Canvas())
	u.sheet = s
	s.pop.Show()
	return s
}

// closeSheet closes the sheet that is open, if one is.
func (u *UI) closeSheet() {
	if u.sheet != nil {
		u.sheet.close()
	}
}

func (s *sheet) close() {
	s.cancel()
	s.rest()
	s.pop.Hide()
	if s.ui.sheet == s {
		s.ui.sheet = nil
		if s.page != s.ui.page { // below, something that is hidden by now has the focus
			s.ui.focusPage()
		}
	}
}

// open says whether the sheet is the one that is shown.
func (s *sheet) open() bool { return s.ui.sheet == s }

func (s *sheet) rest() {
	if s.busy != nil {
		s.busy.Stop()
		s.busy = nil
	}
}

// show gives the sheet another body and other buttons.
func (s *sheet) show(body []fyne.CanvasObject, buttons ...*button) {
	if !s.open() {
		return
	}
	s.rest()
	s.body.Objects = body
	s.bottom.Objects = nil
	for _, b := range buttons {
		s.bottom.Add(b)
	}
	s.fit()
}

// loading says that something is looked at.
func (s *sheet) loading(text string) { s.waiting(text, "Cancel") }

// waiting says what is done now; back is the word for not looking on.
func (s *sheet) waiting(text, back string) {
	if !s.open() {
		return
	}
	s.rest()
	busy := widget.NewActivity()
	busy.Start()
	line := border(nil, container.New(layout.NewCustomPaddedLayout(6, 6, 6, 2), container.NewGridWrap(fyne.NewSquareSize(20), busy)), nil,
		paragraph(text, widget.LowImportance))
	s.show([]fyne.CanvasObject{line}, s.button(back, s.close))
	s.busy = busy
}

// failed says why nothing can be done.
func (s *sheet) failed(text string) {
	if !s.open() {
		return
	}
	done := s.button("Close", s.close)
	s.show([]fyne.CanvasObject{sentence("failed", colorBad, text)}, done)
	s.focus(done)
}

// focus gives o the focus, unless the sheet was closed meanwhile.
func (s *sheet) focus(o fyne.Focusable) {
	if s.open() {
		s.ui.focus(o)
	}
}

func (s *sheet) button(text string, tapped func()) *button {
	return newButton(text, nil, s.ui.typedKey, tapped)
}

// fit makes the sheet as high as its body, as far as the window goes.
func (s *sheet) fit() {
	room := s.ui.window.Canvas().Size().SubtractWidthHeight(40, 40)
	width := min(s.width, room.Width)
	inner := width - 2*sheetPad
	// Twice: wrapped texts know their height once they know their width.
	for range 2 {
		s.head.Resize(fyne.NewSize(inner, s.head.MinSize().Height))
		s.body.Resize(fyne.NewSize(inner, s.body.MinSize().Height))
	}
	height := s.body.MinSize().Height + s.head.MinSize().Height + s.bottom.MinSize().Height + 48
	s.pop.Resize(fyne.NewSize(width, min(height, room.Height)))
	s.pop.Refresh()
}

// sentence is a text behind a sign.
func sentence(file string, color fyne.ThemeColorName, text string) *fyne.Container {
	image := canvas.NewImageFromResource(newIcon(file, color))
	image.FillMode = canvas.ImageFillContain
	image.SetMinSize(fyne.NewSquareSize(16))
	return border(nil, container.New(layout.NewCustomPaddedLayout(8, 0, 6, 0), container.NewVBox(image)), nil,
		container.New(layout.NewCustomPaddedLayout(0, 0, -2, 0), newSelectText(text)))
}

// quote is a text of programs on a panel.
func quote(text string) fyne.CanvasObject {
	t := newSelectText(text)
	t.TextStyle.Monospace = true
	t.Wrapping = fyne.TextWrapBreak
	return inset(newPanel(container.New(layout.NewCustomPaddedLayout(3, 3, 6, 6), t)))
}

// trailing lays objects out in a row that ends at the right.
type trailing struct{ gap float32 }

func (l *trailing) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x := size.Width
	for i := len(objects) - 1; i >= 0; i-- {
		if !objects[i].Visible() {
			continue
		}
		s := objects[i].MinSize()
		x -= s.Width
		objects[i].Resize(fyne.NewSize(s.Width, size.Height))
		objects[i].Move(fyne.NewPos(x, 0))
		x -= l.gap
	}
}

func (l *trailing) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		if s.Width > 0 {
			s.Width += l.gap
		}
		s = fyne.NewSize(s.Width+m.Width, max(s.Height, m.Height))
	}
	return s
}

// formEntry is a field of a form: the Tab key leaves it, the window's shortcuts
// work in it, and Ctrl+Enter does what the form is for.
type formEntry struct {
	widget.Entry
	ui     *UI
	submit func()
}

func newFormEntry(u *UI, placeholder string, changed func(string)) *formEntry {
	e := &formEntry{ui: u}
	e.PlaceHolder, e.OnChanged = placeholder, changed
	e.ExtendBaseWidget(e)
	return e
}

// newFormText is a field of several lines.
func newFormText(u *UI, placeholder string, rows int, changed func(string)) *formEntry {
	e := newFormEntry(u, placeholder, changed)
	e.MultiLine = true
	e.Wrapping = fyne.TextWrapWord
	e.SetMinRowsVisible(rows)
	return e
}

// AcceptsTab is false, also for several lines: Tab goes to the next field.
func (e *formEntry) AcceptsTab() bool { return false }

// FocusGained brings it into sight.
func (e *formEntry) FocusGained() {
	e.Entry.FocusGained()
	e.ui.reveal(e)
}

// TypedKey is called for each key while the field has the focus.
func (e *formEntry) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape, fyne.KeyF5:
		e.ui.typedKey(ev)
	default:
		e.Entry.TypedKey(ev)
	}
}

// TypedShortcut is called for each shortcut while the field has the focus.
func (e *formEntry) TypedShortcut(s fyne.Shortcut) {
	if !e.ui.formShortcut(s, e.submit) {
		e.Entry.TypedShortcut(s)
	}
}

// formShortcut runs what a shortcut does in every field of a form: Ctrl+Enter
// submits it, the window's own work as ever.
func (u *UI) formShortcut(s fyne.Shortcut, submit func()) bool {
	if c, ok := s.(*desktop.CustomShortcut); ok && submit != nil && c.Modifier == fyne.KeyModifierShortcutDefault &&
		(c.KeyName == fyne.KeyReturn || c.KeyName == fyne.KeyEnter) {
		submit()
		return true
	}
	return u.shortcut(s)
}

// count is a number with what it counts.
func count(n int, one, many string) string { return fmt.Sprintf("%d %s", n, plural(n, one, many)) }
