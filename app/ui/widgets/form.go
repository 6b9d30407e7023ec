package widgets

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"
)

// Form is a sheet with fields. Its primary button and Ctrl+Enter submit it; an error is shown below the fields.
type Form struct {
	*Sheet
	// Ready reports whether the fields are complete.
	Ready func() bool
	// Submit reads the fields, and returns a function that carries out what the user entered. That function is
	// called on another goroutine; its context ends after submitLimit.
	Submit  func() func(context.Context) error
	failed  string // the beginning of an error that is shown after the form was closed
	Primary *Button
	problem *fyne.Container
}

// submitLimit is the time that the action of a form may take, for example to wait for another process to release a file.
const submitLimit = 10 * time.Second

// NewForm opens a form without fields. action is the text of its primary button, failed is the text before an error
// that is shown once the form is closed.
func (h *Host) NewForm(title, action, failed string) *Form {
	f := &Form{Sheet: h.NewSheet(title, SheetWidth), failed: failed, problem: container.NewStack()}
	f.problem.Hide()
	f.Primary = h.NewPrimaryButton(action, widget.HighImportance, f.Send)
	return f
}

// Check enables the primary button if the fields are complete. It must be called when a field changed.
func (f *Form) Check() { f.Primary.SetEnabled(f.Ready == nil || f.Ready()) }

// NewEntry returns a field of one line.
func (f *Form) NewEntry(placeholder string) *Entry { return f.NewTextArea(placeholder, 1) }

// NewTextArea returns a field that is rows lines high; with one line it is not wrapped.
func (f *Form) NewTextArea(placeholder string, rows int) *Entry {
	changed := func(string) { f.Check() }
	e := f.host.NewEntry(placeholder, changed)
	if rows > 1 {
		e = f.host.NewTextArea(placeholder, rows, changed)
	}
	e.Submit = f.Send
	return e
}

// Open shows the fields below an introduction.
func (f *Form) Open(intro fyne.CanvasObject, fields ...fyne.CanvasObject) {
	f.Check()
	f.Show([]fyne.CanvasObject{intro, Rows(6, fields...), f.problem}, f.host.NewButton("Cancel", nil, f.Close), f.Primary)
}

// Send submits the form and closes it. It does nothing while a field is missing or the form is being submitted.
func (f *Form) Send() {
	if f.Primary.Disabled() {
		return
	}
	f.Primary.Disable()
	f.problem.Hide()
	do := f.Submit()
	InBackground(f.host.Context, f.host, func(ctx context.Context) (struct{}, error) {
		ctx, cancel := context.WithTimeout(ctx, submitLimit)
		defer cancel()
		return struct{}{}, do(ctx)
	}, func(_ struct{}, err error) { f.sent(err) })
}

func (f *Form) sent(err error) {
	switch {
	case err == nil:
		f.Close()
	case !f.IsOpen():
		f.host.Notify(f.failed + f.host.ErrorText(err))
	default:
		f.Primary.Enable()
		f.ShowProblem(f.host.ErrorText(err))
	}
}

// ShowProblem shows a problem below the fields.
func (f *Form) ShowProblem(text string) {
	f.problem.Objects = []fyne.CanvasObject{Failure(text)}
	f.problem.Show()
	f.Fit()
}

// NewBrowseButton returns a button that lets the user choose a folder. One of chosen and failed is called, unless the user cancels.
func (h *Host) NewBrowseButton(chosen, failed func(string)) *Button {
	return h.NewButton("Browse…", PlainIcon("folder"), func() {
		dialog.ShowFolderOpen(func(uri fyne.ListableURI, err error) {
			switch {
			case err != nil:
				failed("The folder could not be opened: " + h.ErrorText(err))
			case uri != nil:
				chosen(uri.Path())
			}
		}, h.Window)
	})
}
