package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize/english"

	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/follow"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// searchPage searches the conversations of all agents. Hits appear while it searches; a click shows the conversation at
// the hit.
type searchPage struct {
	ui      *UI
	content *fyne.Container
	panes   *panes
	entry   *widgets.Entry
	regex   *widgets.CheckBox
	tools   *widgets.CheckBox
	since   *widgets.Choice[int] // number of days; 0: any time
	found   *widgets.Line
	problem *widgets.Banner
	top     *fyne.Container
	body    *widgets.Stage // the list of hits, or a message
	list    *widgets.List
	hit     *hitPane

	terms    follow.Terms
	stop     context.CancelFunc // ends the search; nil: no search was started
	result   *follow.Result
	selected int // index of the selected hit; -1: none is
}

func newSearchPage(u *UI) *searchPage {
	p := &searchPage{ui: u, result: &follow.Result{}, selected: -1}
	p.entry = u.host.NewEntry("retry the upload", func(string) { p.start() })
	p.entry.OnSubmitted = func(string) { p.focusHits() }
	p.regex = u.host.NewCheckBox("Regular expression", func(bool) { p.start() })
	p.tools = u.host.NewCheckBox("Tool calls too", func(bool) { p.start() })
	p.since = widgets.NewChoice(u.host, []string{"Any time", "Last 7 days", "Last 30 days", "Last year"}, []int{0, 7, 30, 365}, 0, p.start)
	p.found = widgets.NewCaption("")
	p.problem = widgets.NewBanner("waiting")
	p.list = u.host.NewList()
	p.list.Length = func() int { return len(p.result.Hits) }
	p.list.CreateItem = func() fyne.CanvasObject { return newHitView() }
	p.list.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) {
		if i < len(p.result.Hits) {
			setHitView(o.(*fyne.Container), &p.result.Hits[i], u.host.Now())
		}
	}
	p.list.OnSelected = p.choose
	p.hit = newHitPane(u)
	p.body = widgets.NewStage()
	p.top = widgets.Rows(6, widgets.Border(nil, nil, p.since.List, p.entry), widgets.Flow(p.regex, p.tools), p.problem.Content, widgets.Pad(0, 0, 6, 6, p.found))
	left := widgets.Border(widgets.Pad(8, 0, 8, 8, p.top), nil, nil, p.body.Content)
	p.panes = newPanes(u, left, p.hit.content, 0.46, p.list)
	p.content = p.panes.content
	p.show()
	return p
}

// start starts a search with the current values of the fields. It ends an earlier search.
func (p *searchPage) start() {
	terms := follow.Terms{Text: p.entry.Text, Regex: p.regex.Checked, Tools: p.tools.Checked, Days: p.since.Value()}
	if terms == p.terms && p.stop != nil {
		return
	}
	p.end()
	if len(p.result.Hits) > 0 {
		p.list.UnselectAll()
		p.list.ScrollToTop()
	}
	p.terms = terms
	p.result = &follow.Result{Terms: terms}
	p.selected = -1
	p.hit.leave()
	p.panes.show(false)
	if strings.TrimSpace(terms.Text) != "" {
		p.stop = follow.Search(p.ui.ctx, p.ui.core, p.ui.post, p.ui.host.Now, terms, p.take)
	}
	p.show()
}

// end ends the search, if there is one.
func (p *searchPage) end() {
	widgets.Call(p.stop)
	p.stop = nil
}

// again repeats the search.
func (p *searchPage) again() {
	p.end()
	p.start()
}

// take shows what was found so far.
func (p *searchPage) take(r *follow.Result) {
	if r.Terms != p.terms {
		return
	}
	p.result = r
	p.show()
}

// show shows the hits or what is in their place, the counts and the problems.
func (p *searchPage) show() {
	r := p.result
	p.found.Set(p.counts(), widgets.ColorMuted)
	problem := ""
	if len(r.Hits) > 0 && r.Over && r.Report.Failed() {
		problem = "Not everything could be searched.\n" + missingText(&r.Report)
	}
	if p.problem.Set(problem) {
		p.content.Refresh()
	}
	if m := p.instead(); m != nil {
		p.body.Say(*m)
		return
	}
	p.list.Refresh()
	p.body.Show(p.list)
}

// counts returns a text with the number of hits and the progress of the search.
func (p *searchPage) counts() string {
	r := p.result
	var parts []string
	if len(r.Hits) > 0 {
		sessions := map[string]bool{}
		for i := range r.Hits {
			sessions[r.Hits[i].Session] = true
		}
		parts = append(parts, english.Plural(len(r.Hits), "message", "messages")+" in "+english.Plural(len(sessions), "session", "sessions"))
	}
	switch {
	case r.Report.Limited:
		parts = append(parts, "there are more; search for a longer text")
	case !r.Over && p.stop != nil:
		text := "searching…"
		if r.Report.Found > 0 {
			text = "searching… " + present.Count(int64(r.Report.Searched)) + " of " + english.Plural(r.Report.Found, "conversation", "conversations")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// missingText returns a text about what could not be searched, cleaned and limited in length.
func missingText(r *app.SearchReport) string {
	return present.FirstLines(r.Missing(present.AgentName), 6, 220)
}

// instead returns the message in place of the hits; nil: there are hits.
func (p *searchPage) instead() *widgets.Message {
	r, m := p.result, widgets.Message{Icon: "search", Color: widgets.ColorMuted}
	switch {
	case r.Mistake != "":
		m = widgets.Trouble("Cannot search for this", r.Mistake)
	case len(r.Hits) > 0:
		return nil
	case p.stop == nil:
		m.Title, m.Text = "Search conversations", "Finds what you and the agents said, in any session, regardless of case."
	case !r.Over:
		m = widgets.Message{Busy: true, Title: "Searching…", Text: "Rollcall reads the conversations of all agents, the newest first."}
	case r.Report.Failed():
		m = widgets.Trouble("Not everything could be searched", "Nothing was found in the rest.\n"+missingText(&r.Report),
			p.ui.host.NewButton("Try again", widgets.PlainIcon("refresh"), p.again))
	default:
		m.Title, m.Text = "Nothing found", "There are no conversations to search."
		if n := r.Report.Searched; n > 0 {
			m.Text = fmt.Sprintf("None of %s has “%s”.", english.Plural(n, "conversation", "conversations"), present.Cut(present.Line(p.terms.Text), 60))
		}
	}
	return &m
}

// choose shows the conversation of a hit.
func (p *searchPage) choose(i widget.ListItemID) {
	if i < 0 || i >= len(p.result.Hits) {
		return
	}
	p.selected = i
	p.hit.follow(p.result.Hits[i])
	p.panes.show(true)
}

// focusHits moves the focus to the list, if there are hits.
func (p *searchPage) focusHits() {
	if p.instead() == nil {
		p.ui.host.Focus(p.list)
	}
}

// newHitView returns a view of one hit: the line with the match, and below it the author, the place and the time.
func newHitView() *fyne.Container {
	plain := fyne.TextStyle{}
	line := func(color fyne.ThemeColorName, style fyne.TextStyle) *widgets.Line {
		return widgets.NewLine("", color, theme.SizeNameText, style).Whole()
	}
	first := widgets.Inline(line(theme.ColorNameForeground, plain), line(widgets.ColorWorking, fyne.TextStyle{Bold: true}), line(theme.ColorNameForeground, plain))
	second := widgets.Border(nil, nil, widgets.NewCaption("").Whole(), widgets.NewCaption(""))
	return widgets.Pad(5, 5, 10, 10, widgets.Rows(0, first, second))
}

// setHitView shows another hit in a view.
func setHitView(o *fyne.Container, h *follow.Hit, now time.Time) {
	rows := o.Objects[0].(*fyne.Container).Objects
	first, second := rows[0].(*fyne.Container), rows[1].(*fyne.Container)
	for i, text := range []string{h.Line.Before, h.Line.Match, h.Line.After} {
		first.Objects[i].(*widgets.Line).Set(text, map[bool]fyne.ThemeColorName{true: widgets.ColorWorking, false: theme.ColorNameForeground}[i == 1])
	}
	second.Objects[0].(*widgets.Line).Set(h.Who+" · "+h.Where, widgets.ColorMuted)
	second.Objects[1].(*widgets.Line).Set(present.TimeOfDay(h.At, now), widgets.ColorMuted)
	first.Layout.Layout(first.Objects, first.Size())
	second.Refresh()
}

// hitPane shows the conversation around a hit.
type hitPane struct {
	ui           *UI
	content      fyne.CanvasObject
	stage        *widgets.Stage
	title        *widget.Label
	subtitle     *widget.Label
	list         *widgets.Button
	note         *widgets.Banner
	conversation *conversation
	whole        fyne.CanvasObject
	session      string
	cancel       context.CancelFunc // ends the reading; nil: nothing is being read
}

func newHitPane(u *UI) *hitPane {
	p := &hitPane{ui: u, stage: widgets.NewStage()}
	p.title, p.subtitle = widgets.Headline(""), widgets.Hint("")
	p.list = u.host.NewButton("Show in Sessions", nil, func() { u.Show(p.session) })
	p.note = widgets.NewBanner("waiting")
	p.conversation = newConversation(u, nil)
	head := widgets.Pad(6, 0, 10, 12, widgets.Rows(-8, p.title, p.subtitle))
	p.whole = container.NewBorder(widgets.Rows(4, widgets.Border(nil, nil, widgets.TopOf(10, 0, 0, 12, p.list), head), widgets.Pad(0, 0, 12, 14, p.note.Content)), nil, nil, nil, p.conversation.content)
	p.content = p.stage.Content
	p.leave()
	return p
}

// leave shows that no hit is selected.
func (p *hitPane) leave() {
	widgets.Call(p.cancel)
	p.cancel, p.session = nil, ""
	p.conversation.leave()
	p.stage.Say(widgets.Message{Title: "Nothing selected", Text: "Choose a hit to see its conversation."})
}

// follow reads and shows the conversation of a hit.
func (p *hitPane) follow(h follow.Hit) {
	p.leave()
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(p.ui.ctx)
	p.stage.Say(widgets.Message{Busy: true, Text: "Reading the conversation…"})
	var m *describe.Messages
	widgets.InBackground(ctx, p.ui.host, func(ctx context.Context) (app.Around, error) {
		a, err := p.ui.core.Around(ctx, h.Agent, h.Session, h.Key)
		m = describe.NewMessages(a.Messages, nil, h.Agent, len(a.Messages)+1)
		return a, err
	}, func(a app.Around, err error) { p.take(h, &a, m, err) })
}

// take shows a conversation that was read.
func (p *hitPane) take(h follow.Hit, a *app.Around, m *describe.Messages, err error) {
	if err != nil {
		p.stage.Say(widgets.Trouble("The conversation cannot be read", present.Error(err),
			p.ui.host.NewButton("Try again", widgets.PlainIcon("refresh"), func() { p.follow(h) })))
		return
	}
	p.session = a.Session.ID
	widgets.SetLabel(p.title, present.Cut(describe.Title(&a.Session), 160))
	widgets.SetLabel(p.subtitle, describe.Subtitle(&a.Session, p.ui.host.Now()))
	_, listed := listing.Match(p.ui.sessions.view, p.session)
	p.list.Hidden = !listed
	p.note.Set(present.When(a.At < 0, "The message is in a part of the conversation that cannot be shown: very far back, or in an abandoned branch. These are the last messages."))
	p.stage.Show(p.whole)
	p.conversation.showAround(m, present.When(a.At >= 0, h.Key))
	if terms := &p.ui.search.terms; !terms.Regex {
		p.conversation.finder.begin(terms.Text)
	}
}
