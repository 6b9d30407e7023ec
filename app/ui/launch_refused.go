package ui

import (
	"errors"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store/lock"
	"rollcall/app/ui/widgets"
)

// refusal shows why something was not launched. For a folder in use, it offers to show who uses it and to launch anyway.
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

// show shows err. again launches despite it, and apart launches in a worktree of its own; apart may be nil.
func (r *refusal) show(err error, again, apart func()) {
	var locked *lock.HeldError
	var occupied *launch.OccupiedError
	sentence := widgets.Failure("Not launched: " + errorText(err))
	var actions []fyne.CanvasObject
	var there *app.CommandError // of Rollcall on another machine
	if errors.As(err, &locked) || errors.As(err, &occupied) || errors.As(err, &there) && there.Code == app.FolderInUse {
		sentence = widgets.Warning(r.ui.whoWorks(err) + ". Two agents in one folder can overwrite each other's work.")
		if apart != nil {
			actions = append(actions, r.ui.host.NewPrimaryButton("Launch in a worktree", widget.HighImportance, apart))
		}
		actions = append(actions, r.ui.host.NewPrimaryButton("Launch anyway", widget.WarningImportance, again))
	}
	session := ""
	switch {
	case occupied != nil:
		session = occupied.Session.ID
	case locked != nil:
		session = locked.By.Session
	}
	if session != "" {
		actions = append(actions, r.ui.showSessionButton(session))
	}
	if locked != nil && locked.By.Kind == lock.Manual {
		actions = append(actions, r.ui.host.NewButton("Show locks", nil, func() { r.ui.host.CloseSheet(); r.ui.open(pageLocks) }))
	}
	body := widgets.Rows(2, sentence)
	if len(actions) > 0 {
		body.Add(widgets.Pad(0, 4, 26, 0, widgets.Flow(actions...)))
	}
	r.content.Objects = []fyne.CanvasObject{widgets.Inset(widgets.NewPanel(4, 4, 8, 8, body))}
	r.content.Show()
	r.content.Refresh()
}

// whoWorks returns who uses a folder, for people: the topic of the session, or the error in its own words if the session is not listed.
func (u *UI) whoWorks(err error) string {
	var locked *lock.HeldError
	if errors.As(err, &locked) && locked.By.Session != "" {
		if k, ok := match(u.sessions.view, locked.By.Session); ok {
			s := u.sessions.view.byKey[k]
			err = &launch.OccupiedError{Path: s.CWD, Session: *s}
		}
	}
	return errorText(err)
}

// showSessionButton returns a button that shows a session in the list.
func (u *UI) showSessionButton(id string) *widgets.Button {
	return u.host.NewButton("Show session", nil, func() { u.host.CloseSheet(); u.Show(id) })
}

// confirmUnsafe asks before it launches agents in modes without permission prompts.
func (u *UI) confirmUnsafe(f *launchForm, launchIt func()) {
	risks := launch.UnsafeModes(u.options.Agents, f.members)
	if len(risks) == 0 {
		launchIt()
		return
	}
	s := u.host.NewSheet("Launch without permission prompts?", widgets.SheetWidth)
	body := make([]fyne.CanvasObject, 0, len(risks)+1)
	for _, r := range risks {
		body = append(body, widgets.Warning(short(fmt.Sprintf("%s in mode %s %s.", present.AgentName(r.Agent), r.Name, r.Says))))
	}
	body = append(body, widgets.Paragraph("It can then run any command and change any file that you can, in "+
		present.Cut(short(f.Dir), 200)+" and elsewhere, without asking.", widget.MediumImportance))
	s.Confirm(body, u.host.NewPrimaryButton("Launch", widget.DangerImportance, func() { s.Close(); launchIt() }))
}
