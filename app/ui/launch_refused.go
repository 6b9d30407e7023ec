package ui

import (
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/launch"
	"rollcall/app/lock"
	"rollcall/app/present"
)

// refusal says why something was not launched, and who holds the folder where
// that is why.
type refusal struct {
	ui      *UI
	content *fyne.Container
}

func newRefusal(u *UI) *refusal {
	r := &refusal{ui: u, content: container.NewStack()}
	r.content.Hide()
	return r
}

func (r *refusal) hide() { r.content.Hide() }

// show tells of err. again launches all the same.
func (r *refusal) show(err error, again func()) {
	var locked *lock.HeldError
	var occupied *launch.OccupiedError
	text, file, color := "It was not launched: "+present.Cut(short(err.Error()), 1500), "failed", colorBad
	var actions []fyne.CanvasObject
	if errors.As(err, &locked) || errors.As(err, &occupied) {
		file, color = "waiting", colorWaiting
		text = present.Cut(short(err.Error()), 1500) + ". Two agents in one folder get in each other's way."
		anyway := newButton("Launch anyway", nil, r.ui.typedKey, again)
		anyway.Importance = widget.WarningImportance
		actions = append(actions, anyway)
	}
	session := ""
	switch {
	case occupied != nil:
		session = occupied.Session.ID
	case locked != nil:
		session = locked.By.Session
	}
	if session != "" {
		actions = append(actions, newButton("Show the session", nil, r.ui.typedKey, func() { r.ui.closeSheet(); r.ui.Show(session) }))
	}
	if locked != nil && locked.By.Kind == lock.Manual {
		actions = append(actions, newButton("Show the locks", nil, r.ui.typedKey, func() { r.ui.closeSheet(); r.ui.open(pageLocks) }))
	}
	body := container.New(layout.NewCustomPaddedVBoxLayout(2), sentence(file, color, text))
	if len(actions) > 0 {
		body.Add(container.New(layout.NewCustomPaddedLayout(0, 4, 26, 0), container.New(newFlow(), actions...)))
	}
	r.content.Objects = []fyne.CanvasObject{inset(newPanel(container.New(layout.NewCustomPaddedLayout(4, 4, 8, 8), body)))}
	r.content.Show()
	r.content.Refresh()
}

// confirmUnsafe asks before a form whose mode skips all questions is carried out.
func (u *UI) confirmUnsafe(f *launchForm, carryOut func()) {
	risks := u.unsafeModes(f)
	if len(risks) == 0 {
		carryOut()
		return
	}
	s := u.newSheet("Launch without being asked?", sheetWidth)
	body := make([]fyne.CanvasObject, 0, len(risks)+1)
	for _, r := range risks {
		body = append(body, sentence("waiting", colorWaiting, short(r)))
	}
	body = append(body, paragraph("It can then run any command and change any file that you can, in "+
		present.Cut(short(f.dir), 200)+" and elsewhere, and nobody is asked.", widget.MediumImportance))
	start := s.button("Launch it", func() { s.close(); carryOut() })
	start.Importance = widget.DangerImportance
	back := s.button("Cancel", s.close)
	s.show(body, back, start)
	s.focus(back)
}
