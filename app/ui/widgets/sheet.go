package widgets

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// Sheet is a dialog with a title, a body and buttons. The body scrolls if the window is too small for it. Escape
// closes the sheet. Only one sheet is open at a time.
type Sheet struct {
	Context context.Context // ends when the sheet is closed
	Popup   *widget.PopUp
	Buttons *fyne.Container
	host    *Host
	width   float32
	title   *widget.Label
	body    *fyne.Container
	foot    *fyne.Container  // of Buttons; hidden without any
	busy    *widget.Activity // runs while the sheet waits; nil: the sheet does not wait
	cancel  func()
	restore func()
}

// SheetWidth is the usual width of a sheet.
const SheetWidth = 540

const sheetPad = 16

// NewSheet opens an empty sheet and closes the one that was open. width is its largest width.
func (h *Host) NewSheet(title string, width float32) *Sheet {
	h.CloseSheet()
	s := &Sheet{host: h, width: width, title: Headline(title), body: Rows(2), Buttons: Columns(flowGap), restore: h.Opened()}
	s.Context, s.cancel = context.WithCancel(h.Context)
	s.foot = Pad(12, 4, 0, 6, Border(nil, nil, s.Buttons, container.NewWithoutLayout()))
	frame := container.NewBorder(s.title, s.foot, nil, nil, container.NewVScroll(s.body))
	s.Popup = widget.NewModalPopUp(Pad(8, 8, sheetPad-6, sheetPad-6, frame), h.Window.Canvas())
	h.Sheet = s
	s.Popup.Show()
	return s
}

// CloseSheet closes the sheet that is open, if one is.
func (h *Host) CloseSheet() {
	if h.Sheet != nil {
		h.Sheet.Close()
	}
}

// Close closes the sheet. It may be called more than once.
func (s *Sheet) Close() {
	s.cancel()
	s.stopWaiting()
	s.Popup.Hide()
	if s.IsOpen() {
		s.host.Sheet = nil
		s.restore()
	}
}

// IsOpen reports whether the sheet is shown.
func (s *Sheet) IsOpen() bool { return s.host.Sheet == s }

// IsWaiting reports whether the sheet shows that something is being done.
func (s *Sheet) IsWaiting() bool { return s.busy != nil }

func (s *Sheet) stopWaiting() {
	if s.busy != nil {
		s.busy.Stop()
		s.busy = nil
	}
}

// SetTitle changes the title.
func (s *Sheet) SetTitle(text string) { s.title.SetText(text) }

// Focus gives o the focus, unless the sheet is closed.
func (s *Sheet) Focus(o fyne.Focusable) {
	if s.IsOpen() {
		s.host.Focus(o)
	}
}

// Show replaces the body and the buttons, unless the sheet is closed.
func (s *Sheet) Show(body []fyne.CanvasObject, buttons ...*Button) {
	if !s.IsOpen() {
		return
	}
	s.stopWaiting()
	s.body.Objects = body
	s.Buttons.Objects = nil
	for _, b := range buttons {
		s.Buttons.Add(b)
	}
	s.foot.Hidden = len(buttons) == 0
	s.Fit()
}

// ShowResult replaces the body. The buttons given come before Close, which has the focus unless a button is primary.
func (s *Sheet) ShowResult(body []fyne.CanvasObject, buttons ...*Button) {
	closeIt := s.host.NewButton("Close", nil, s.Close)
	s.Show(body, append(buttons, closeIt)...)
	for _, b := range buttons {
		if b.Importance == widget.HighImportance {
			s.Focus(b)
			return
		}
	}
	s.Focus(closeIt)
}

// Confirm asks the user to confirm an action: action is its button. Cancel has the focus.
func (s *Sheet) Confirm(body []fyne.CanvasObject, action *Button) {
	back := s.host.NewButton("Cancel", nil, s.Close)
	s.Show(body, back, action)
	s.Focus(back)
}

// Fail shows an error in place of the body.
func (s *Sheet) Fail(text string) { s.ShowResult([]fyne.CanvasObject{Failure(text)}) }

// wait shows a text and that the sheet waits. back is the text of the button that closes the sheet. wait returns the label with the text.
func (s *Sheet) wait(text, back string) *widget.Label {
	label := Paragraph(text, widget.LowImportance)
	if s.IsOpen() {
		busy := widget.NewActivity()
		busy.Start()
		s.Show([]fyne.CanvasObject{Border(nil, Pad(6, 6, 6, 2, container.NewGridWrap(fyne.NewSquareSize(20), busy)), nil, label)},
			s.host.NewButton(back, nil, s.Close))
		s.busy = busy
	}
	return label
}

// Fit makes the sheet as high as its body, within the window, and centres it: Fyne 2.8.1 leaves its corner where it was.
func (s *Sheet) Fit() {
	whole := s.host.Window.Canvas().Size()
	width := min(s.width, whole.Width-40)
	inner := width - 2*sheetPad
	height := WrapTo(s.title, inner) + WrapTo(s.body, inner) + 32
	if s.foot.Visible() {
		height += s.foot.MinSize().Height
	}
	height = min(height, whole.Height-40)
	Place(s.Popup, (whole.Width-width)/2, (whole.Height-height)/2, width, height)
	s.Popup.Refresh()
}

// Load shows text, calls read on another goroutine and then show on Fyne's goroutine. If read fails, the sheet
// shows the error instead. Once the sheet is closed, the context of read is done, and neither show is called nor
// an error shown.
func Load[T any](s *Sheet, text string, read func(context.Context) (T, error), show func(T)) {
	s.wait(text, "Cancel")
	InBackground(s.Context, s.host, read, func(got T, err error) {
		if err != nil {
			s.Fail(s.host.ErrorText(err))
			return
		}
		show(got)
	})
}

// Run shows text, calls do on another goroutine and then show on Fyne's goroutine. do continues when the sheet is
// closed; say replaces the text. An error is shown after the text failed: in the sheet or, if the sheet is closed, by
// Notify. show is also called for a closed sheet.
func Run[T any](s *Sheet, text, failed string, do func(ctx context.Context, say func(string)) (T, error), show func(T)) {
	label := s.wait(text, "Close")
	say := func(text string) { s.host.Post(func() { label.SetText(text) }) }
	InBackground(s.host.Context, s.host, func(ctx context.Context) (T, error) { return do(ctx, say) }, func(got T, err error) {
		switch {
		case err == nil:
			show(got)
		case s.IsOpen():
			s.Fail(failed + s.host.ErrorText(err))
		default:
			s.host.Notify(failed + s.host.ErrorText(err))
		}
	})
}
