package ui

import (
	"cmp"
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/self/autostart"
	"rollcall/app/ui/widgets"
)

// loginSwitch turns the start of the tray at login on and off, and shows the file that starts it. It is used on Fyne's
// goroutine only.
type loginSwitch struct {
	ui      *UI
	content fyne.CanvasObject
	box     *widgets.CheckBox
	note    *widget.Label
	problem *widgets.Banner
	filling bool // set while the box is filled with the system's state, which must not be changed by that
}

func newLoginSwitch(u *UI) *loginSwitch {
	s := &loginSwitch{ui: u, note: widgets.Hint("Reading what starts at login…"), problem: widgets.NewBanner("waiting")}
	s.box = u.host.NewCheckBox("Start Rollcall when I log in", func(on bool) {
		switch {
		case s.filling:
		case on:
			s.read(u.options.Autostart.On)
		default:
			s.read(u.options.Autostart.Off)
		}
	})
	s.content = widgets.Rows(6, s.box, s.note, s.problem.Content)
	return s
}

// read calls change, unless it is nil, on another goroutine, and then shows what starts at login.
func (s *loginSwitch) read(change func() (autostart.Change, error)) {
	s.box.Disable()
	background(s.ui.ctx, s.ui, func(context.Context) (l autostart.State, failed error) {
		if change != nil {
			_, failed = change()
		}
		l, err := s.ui.options.Autostart.State()
		return l, cmp.Or(failed, err)
	}, s.show)
}

// show shows whether the system starts the tray at login, and the error if that could not be read or changed.
func (s *loginSwitch) show(l autostart.State, failed error) {
	s.box.Enable()
	s.filling = true
	s.box.SetChecked(l.On)
	s.filling = false
	note := "Rollcall does not start by itself."
	if len(l.Paths) > 0 {
		note = "Entry: " + short(strings.Join(l.Paths, ", "))
	}
	s.note.SetText(note)
	s.problem.Set(cmp.Or(errorText(failed), short(l.Problem)))
	s.ui.settings.content.Refresh()
}
