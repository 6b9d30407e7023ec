package ui

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/self/autostart"
	"rollcall/app/ui/widgets"
)

// loginSwitch turns the start of the tray at login on and off, and shows the file that starts it. It is used on Fyne's
// goroutine only; the page's other goroutine reads and changes the system's state.
type loginSwitch struct {
	content fyne.CanvasObject
	box     *widgets.CheckBox
	note    *widget.Label
	problem *widgets.Banner
	filling bool // set while the box is filled with the system's state, which must not be changed by that
}

func newLoginSwitch(p *settingsPage) *loginSwitch {
	s := &loginSwitch{note: widgets.Hint("Reading what starts at login…"), problem: widgets.NewBanner("waiting")}
	s.box = p.ui.host.NewCheckBox("Start Rollcall when I log in", nil)
	s.box.OnChanged = func(on bool) {
		if !s.filling {
			p.changeLogin(on)
		}
	}
	s.content = widgets.Rows(6, s.box, s.note, s.problem.Content)
	return s
}

// loginState is whether the system starts the tray at login, and the error if that could not be read or changed.
type loginState struct {
	autostart.State
	failed error
}

// readLogin turns the start at login on or off, unless wanted is nil, and returns the resulting state.
func readLogin(entry autostart.Entry, wanted *bool) (l loginState) {
	switch {
	case wanted == nil:
	case *wanted:
		_, l.failed = entry.On()
	default:
		_, l.failed = entry.Off()
	}
	var err error
	if l.State, err = entry.State(); l.failed == nil {
		l.failed = err
	}
	return l
}

// show shows whether the system starts the tray at login.
func (s *loginSwitch) show(l *loginState) {
	s.filling = true
	s.box.SetChecked(l.On)
	s.filling = false
	note := "Rollcall does not start by itself."
	if len(l.Paths) > 0 {
		note = "Entry: " + short(strings.Join(l.Paths, ", "))
	}
	s.note.SetText(note)
	s.problem.Set(cmp.Or(errorText(l.failed), short(l.Problem)))
}
