package ui

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/show"
	"rollcall/app/present"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/widgets"
)

// Shower shows sessions outside of the window; *show.Shower is one. Its methods take seconds.
type Shower interface {
	Show(ctx context.Context, agent adapters.Name, id string) (*show.Plan, error)
	Attach(s *app.Session, o *show.Offer) (terminal string, err error)
	Folder(s *app.Session) error
	Editor(s *app.Session) (editor string, err error)
}

// canShowTerminal reports whether the window offers to show the terminal of a session, or the log of one that has none. Only the attempt shows whether it is possible.
func (u *UI) canShowTerminal(s *app.Session) bool {
	if s.IsBackground() {
		return u.options.Launches != nil && s.Live()
	}
	return u.options.Shower != nil && s.Live() && s.Machine == "" && s.Remote == ""
}

// spaceShows is what is said of a terminal in which a request waits. An agent's own dialog takes Enter for a yes, and keys that are typed while the terminal
// comes to the front go there: Rollcall can't hold them back.
const spaceShows = "A request waits in the terminal, and Enter would answer it there: Space shows the terminal, Enter does not."

// guardEnter lets Enter press a button that shows the terminal of a session only if no request waits in it.
func (u *UI) guardEnter(b *widgets.Button, s *app.Session) {
	b.Enter = nil
	if s.Status == adapters.Waiting && !s.IsBackground() {
		b.Enter = func() { u.sessions.showResult("waiting", widgets.ColorWaiting, spaceShows) }
	}
}

// showTerminal shows the terminal of a session. If that is not possible, it shows the reason and what the user can do instead. It
// returns at once; done is called on Fyne's goroutine afterwards, and may be nil.
func (u *UI) showTerminal(s app.Session, done func()) {
	shower := u.options.Shower
	if shower == nil {
		return
	}
	widgets.InBackground(u.ctx, u.host, func(ctx context.Context) (*show.Plan, error) { return shower.Show(ctx, s.Agent, s.ID) }, func(plan *show.Plan, err error) {
		widgets.Call(done)
		var not *show.NotShownError
		switch {
		case errors.As(err, &not):
			u.offerInstead(not)
		case err != nil:
			u.notify("The terminal was not shown: " + present.Error(err))
		case s.Status == adapters.Waiting:
			raised := "The terminal was raised, and a request waits in it. What you typed since then went there."
			u.sessions.showResult("waiting", widgets.ColorWaiting, raised+present.When(plan.Note != "", " "+present.Sentence(plan.Note)+"."))
		case plan.Note != "":
			u.notify("The terminal was raised; " + plan.Note + ".")
		}
	})
}

// offerInstead shows why a terminal can't be shown, and what the user can do instead.
func (u *UI) offerInstead(e *show.NotShownError) {
	s, shower := e.Plan.Session, u.options.Shower
	d := u.host.NewSheet("The terminal can't be shown", widgets.SheetWidth)
	body := []fyne.CanvasObject{facts.Line(&s), widgets.Warning(present.Sentence(present.Short(e.Reason())) + ".")}
	importance := widget.HighImportance
	if s.Status == adapters.Waiting {
		importance = widget.MediumImportance
		body = append(body, widgets.Warning(spaceShows))
	}
	var buttons []*widgets.Button
	for i := range e.Plan.Offers {
		o := &e.Plan.Offers[i]
		if o.Command != nil {
			body = append(body, widgets.NewLabel("In a terminal"), widgets.Inset(widgets.Paragraph(present.Short(o.Shell()), widget.MediumImportance)))
			var copyIt *widgets.Button
			copyIt = u.host.NewButton("Copy command", widgets.PlainIcon("copy"), func() { u.host.Copy(copyIt, o.Shell()) })
			buttons = append(buttons, copyIt)
		}
		switch o.Kind {
		case show.OfferAttach:
			if s.Machine == "" {
				attach := u.host.NewPrimaryButton("Open a terminal", importance, func() {
					d.Close()
					u.try("The session could not be shown in a terminal: ", func() error {
						_, err := shower.Attach(&s, o)
						return err
					})
				})
				u.guardEnter(attach, &s)
				buttons = append(buttons, attach)
			}
		case show.OfferFolder:
			buttons = append(buttons, u.host.NewButton("Open folder", nil, func() { d.Close(); u.openFolder(s) }))
		case show.OfferResume: // the text above has its command, and the details have a button
		}
	}
	d.ShowResult(body, buttons...)
}

// openItems returns the menu of what can be opened of a session.
func (u *UI) openItems(s app.Session) []*fyne.MenuItem {
	return []*fyne.MenuItem{
		fyne.NewMenuItem("Open folder", func() { u.openFolder(s) }),
		fyne.NewMenuItem("Open in editor", func() {
			u.try("The editor was not opened: ", func() error {
				_, err := u.options.Shower.Editor(&s)
				return err
			})
		}),
	}
}

func (u *UI) openFolder(s app.Session) {
	u.try("The folder was not opened: ", func() error { return u.options.Shower.Folder(&s) })
}
