package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app/control/answer"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// oneKeyOffer is a command that the user may enter, so that one key allows it.
type oneKeyOffer settings.OneKey

// offersAfter returns what is offered after a request was answered: a command that was allowed by a second key may be entered.
func (u *UI) offersAfter(item *answer.Asked, d adapters.Decision) []oneKeyOffer {
	r := item.Request
	if r == nil || !d.SecondLook || u.options.Live == nil || !item.Entry.CanEnter(r) {
		return nil
	}
	return []oneKeyOffer{{Folder: item.Entry.Session.CWD, Command: r.Text}}
}

func (o oneKeyOffer) text() string {
	return "Allow “" + o.Command + "” in " + present.Short(o.Folder) + " with one key from now on? " + answer.OneKeyMeaning
}

func (o oneKeyOffer) button(u *UI) fyne.CanvasObject {
	return u.host.NewButton("Use one key for it", nil, func() { u.enterOneKey(settings.OneKey(o)) })
}

func (o oneKeyOffer) panel(u *UI) fyne.CanvasObject {
	return widgets.NewPanel(4, 6, 8, 8, widgets.Rows(0, widgets.Paragraph(o.text(), widget.MediumImportance), widgets.Inset(widgets.Flow(o.button(u)))))
}

// enterOneKey enters a command in the settings, on another goroutine. It returns at once.
func (u *UI) enterOneKey(o settings.OneKey) {
	live := u.options.Live
	widgets.InBackground(u.ctx, u.host, func(context.Context) (struct{}, error) {
		err := settings.SetOneKey(live.Path(), o, true)
		live.Read()
		return struct{}{}, err
	}, func(_ struct{}, err error) {
		if err != nil {
			u.sessions.showResult("waiting", widgets.ColorWaiting, "It was not entered: "+present.Error(err))
			return
		}
		u.sessions.showResult("done", widgets.ColorGood, "One key allows “"+o.Command+"” in "+o.Folder+". The page Settings lists and removes such commands.")
	})
}
