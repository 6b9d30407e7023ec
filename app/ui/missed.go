package ui

import (
	"context"
	"fmt"
	"strings"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/owned/notices"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// missedPage lists the last notifications, with what became of each. It is used on Fyne's goroutine only.
type missedPage struct {
	ui    *UI
	stage *widgets.Stage
}

// missed is the name of the page.
const missed = "What did I miss?"

// look reads the notifications on another goroutine, and shows them.
func (p *missedPage) look() {
	u := p.ui
	if u.options.Notices == nil {
		p.stage.Say(widgets.Message{Title: "No notifications", Text: "The folder of Rollcall's state is not known here."})
		return
	}
	widgets.InBackground(u.ctx, u.host, func(context.Context) ([]notices.Notice, error) { return u.options.Notices.Last() }, p.show)
}

// show shows the notifications, the newest first, or what is in their place.
func (p *missedPage) show(list []notices.Notice, err error) {
	u, snap := p.ui, p.ui.sessions.source.Snapshot
	switch {
	case err != nil:
		p.stage.Say(widgets.Trouble("The last notifications cannot be read", present.Error(err), u.host.NewButton("Try again", widgets.PlainIcon("refresh"), p.look)))
		return
	case len(list) == 0:
		p.stage.Say(widgets.Message{Icon: "done", Color: widgets.ColorMuted, Title: "Nothing was told yet", Text: "The notifications that the tray shows from now on are listed here."})
		return
	}
	sessions := map[adapters.Name]map[string]*app.Session{}
	for s := range snap.All() {
		if sessions[s.Agent] == nil {
			sessions[s.Agent] = map[string]*app.Session{}
		}
		sessions[s.Agent][s.ID] = s
	}
	rows := widgets.Rows(6, widgets.Headline(missed))
	for i, x := range list {
		s := sessions[x.Agent][x.Session]
		became := x.Became(s, list[:i], !describe.Pending(snap) && len(describe.Failures(snap)) == 0)
		icon, text := widgets.NewIcon("done", widgets.ColorMuted), present.TimeOfDay(x.At, u.host.Now())+present.When(became != "", " · "+present.Short(became))
		open := u.host.NewButton("Show", nil, func() { u.Show(x.Session) })
		open.Hidden = s == nil
		if x.Waits && s != nil && s.Status == adapters.Waiting {
			icon, open.OnTapped = widgets.NewIcon("waiting", widgets.ColorWaiting), func() { u.ShowRequest(x.Session) }
		}
		title := widgets.NewSelectText(present.Cut(present.Short(x.Title), 160))
		title.TextStyle.Bold = true
		card := widgets.NewCard(icon, "", present.When(x.Body != "", present.FirstLines(strings.Split(x.Body, "\n"), 4, 220)+"\n")+text, open)
		card.Body.Objects[0] = widgets.Pad(-5, -4, 0, 0, title) // beside the icon
		rows.Add(card.Content)
	}
	if len(list) == notices.Most {
		rows.Add(widgets.Hint(fmt.Sprintf("The last %d notifications are kept.", notices.Most)))
	}
	p.stage.Show(widgets.Page(rows))
}
