// Package missedpage has the page of the window that lists the last notifications.
package missedpage

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app/describe"
	"rollcall/app/listing"
	"rollcall/app/owned/notices"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// Window is what the page needs of the window.
type Window struct {
	*widgets.Host
	Notices     *notices.Notices     // nil: they are not known
	View        func() *listing.View // returns the sessions that are listed
	Show        func(id string)      // shows a session
	ShowRequest func(id string)      // shows what a session waits for
}

// Page lists the last notifications, with what became of each. It is used on Fyne's goroutine only.
type Page struct {
	Content *fyne.Container
	window  Window
	stage   *widgets.Stage
}

// New returns the page, which has read nothing yet.
func New(w Window) *Page {
	p := &Page{window: w, stage: widgets.NewStage()}
	p.Content = p.stage.Content
	return p
}

// Title is the name of the page.
const Title = "What did I miss?"

// Look reads the notifications on another goroutine, and shows them.
func (p *Page) Look() {
	w := &p.window
	if w.Notices == nil {
		p.stage.Say(widgets.Message{Title: "No notifications", Text: "The folder of Rollcall's state is not known here."})
		return
	}
	widgets.InBackground(w.Context, w.Host, func(context.Context) ([]notices.Notice, error) { return w.Notices.Last() }, p.show)
}

// show shows the notifications, the newest first, or what is in their place.
func (p *Page) show(list []notices.Notice, err error) {
	w, v := &p.window, p.window.View()
	switch {
	case err != nil:
		p.stage.Say(widgets.Trouble("The last notifications cannot be read", present.Error(err), w.NewButton("Try again", widgets.PlainIcon("refresh"), p.Look)))
		return
	case len(list) == 0:
		p.stage.Say(widgets.Message{Icon: "done", Color: widgets.ColorMuted, Title: "Nothing was told yet", Text: "The notifications that the tray shows from now on are listed here."})
		return
	}
	rows := widgets.Rows(6, widgets.Headline(Title))
	for i, x := range list {
		s := v.ByKey[listing.Key{Agent: x.Agent, ID: x.Session}]
		became := x.Became(s, list[:i], !describe.Pending(v.Snapshot) && len(describe.Failures(v.Snapshot)) == 0)
		icon, text := widgets.NewIcon("done", widgets.ColorMuted), present.TimeOfDay(x.At, w.Now())+present.When(became != "", " · "+present.Short(became))
		open := w.NewButton("Show", nil, func() { w.Show(x.Session) })
		open.Hidden = s == nil
		if x.Waits && s != nil && s.Status == adapters.Waiting {
			icon, open.OnTapped = widgets.NewIcon("waiting", widgets.ColorWaiting), func() { w.ShowRequest(x.Session) }
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
