// Package widgets contains the controls, layouts and dialogs that the pages of Rollcall's window are built from.
//
// Fyne sends a key to the focused widget and to nothing else. Every focusable widget here therefore passes the keys and
// shortcuts that it does not use to its Host: without that, Escape would close a dialog from some fields only.
//
// All functions and methods must be called on Fyne's goroutine, unless their comment says otherwise.
package widgets

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
)

// Host connects widgets with the window that shows them. All fields but Sheet must be set.
type Host struct {
	Window    fyne.Window
	Context   context.Context          // ends when the window is closed
	Post      func(func())             // runs a function on Fyne's goroutine; may be called from any goroutine
	Key       func(*fyne.KeyEvent)     // handles a key that the focused widget does not use
	Shortcut  func(fyne.Shortcut) bool // runs a shortcut of the window and reports whether it is one
	Notify    func(text string)        // shows an error that belongs to no open sheet
	ErrorText func(error) string       // returns the text of an error, cleaned for the screen
	Now       func() time.Time         // returns the time by which ages are shown
	Opened    func() (restore func())  // called when a sheet opens; restore is called when it closes
	Sheet     *Sheet                   // the dialog that is open; nil: none
}

// Focus gives o the focus. If the window does not show o, or if o is nil, nothing has the focus, and the window handles the keys: what has
// gone must not act on them. All of the window's focus is set here.
func (h *Host) Focus(o fyne.Focusable) {
	c := h.Window.Canvas()
	if object, ok := o.(fyne.CanvasObject); ok {
		if _, shown := h.scrollsAround(object); shown {
			c.Focus(o)
			return
		}
	}
	c.Unfocus()
}

// InBackground calls do on another goroutine, and then show with its results on Fyne's goroutine, unless ctx is done by then.
func InBackground[T any](ctx context.Context, h *Host, do func(context.Context) (T, error), show func(T, error)) {
	go func() {
		got, err := do(ctx)
		h.Post(func() {
			if ctx.Err() == nil {
				show(got, err)
			}
		})
	}()
}

// passOn passes ev to the window if ev is a key that the window handles wherever the focus is. It reports whether it did.
func (h *Host) passOn(ev *fyne.KeyEvent) bool {
	switch ev.Name {
	case fyne.KeyEscape, fyne.KeyF3, fyne.KeyF5:
		h.Key(ev)
		return true
	}
	return false
}

// formShortcut calls submit for Ctrl+Enter and runs the window's own shortcuts. It reports whether s was one of them.
func (h *Host) formShortcut(s fyne.Shortcut, submit func()) bool {
	if c, ok := s.(*desktop.CustomShortcut); ok && submit != nil && c.Modifier == fyne.KeyModifierShortcutDefault &&
		(c.KeyName == fyne.KeyReturn || c.KeyName == fyne.KeyEnter) {
		submit()
		return true
	}
	return h.Shortcut(s)
}

// scrollTo scrolls what contains a widget that got the focus: the Tab key also reaches widgets outside the visible part.
func (h *Host) scrollTo(focused fyne.CanvasObject) {
	scrolls, _ := h.scrollsAround(focused)
	for _, scroll := range scrolls {
		if scroll.Size().Height == 0 || scroll.Direction == container.ScrollHorizontalOnly {
			continue
		}
		d := fyne.CurrentApp().Driver()
		top := d.AbsolutePositionForObject(focused).Y - d.AbsolutePositionForObject(scroll).Y
		bottom := top + focused.Size().Height - scroll.Size().Height
		const margin = 12
		switch {
		case top < 0:
			scroll.ScrollToOffset(scroll.Offset.AddXY(0, top-margin))
		case bottom > 0:
			scroll.ScrollToOffset(scroll.Offset.AddXY(0, min(bottom+margin, top)))
		}
	}
}

// scrollsAround returns the scroll containers that contain o in the sheet that is open or else in the window, the innermost first. It reports whether it
// found o.
func (h *Host) scrollsAround(o fyne.CanvasObject) ([]*container.Scroll, bool) {
	if h.Sheet != nil {
		return scrollsAround(h.Sheet.Popup.Content, o)
	}
	return scrollsAround(h.Window.Content(), o)
}

func scrollsAround(in, o fyne.CanvasObject) (scrolls []*container.Scroll, found bool) {
	if in == o {
		return nil, true
	}
	var parts []fyne.CanvasObject
	scroll, _ := in.(*container.Scroll)
	switch x := in.(type) {
	case *container.Scroll:
		x.Base.MinSize() // Fyne 2.8.1 gives no focus to what is in a widget that it did not draw in the last minute; this makes its renderer, as MinSize alone does not
		parts = []fyne.CanvasObject{x.Content}
	case *container.Split:
		x.MinSize()
		parts = []fyne.CanvasObject{x.Leading, x.Trailing}
	case *fyne.Container:
		parts = x.Objects
	}
	for _, part := range parts {
		if !part.Visible() {
			continue
		}
		scrolls, found = scrollsAround(part, o)
		if found {
			break
		}
	}
	if found && scroll != nil {
		scrolls = append(scrolls, scroll)
	}
	return scrolls, found
}

// Sideways scrolls a wide block with a horizontal wheel, or with Shift and the wheel. It passes the vertical wheel on to what contains it.
type Sideways struct {
	container.Scroll
	host *Host
}

// NewSideways returns a block that scrolls sideways.
func (h *Host) NewSideways(content fyne.CanvasObject) *Sideways {
	s := &Sideways{host: h}
	s.Direction, s.Content = container.ScrollHorizontalOnly, content
	s.ExtendBaseWidget(s)
	return s
}

// Scrolled scrolls sideways if the wheel turns more sideways than down.
func (s *Sideways) Scrolled(ev *fyne.ScrollEvent) {
	by := ev.Scrolled
	if by.DX*by.DX > by.DY*by.DY {
		s.Scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DX: by.DX}})
		return
	}
	if around, _ := s.host.scrollsAround(s); len(around) > 0 {
		around[0].Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: by.DY}})
	}
}

// Call calls f unless it is nil.
func Call(f func()) {
	if f != nil {
		f()
	}
}
