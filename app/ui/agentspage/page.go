// Package agentspage has the pages of the window about the agents that were found: their health, and the introduction of the first window.
package agentspage

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/widgets"
)

// Page shows whether each agent could be read. It is used on Fyne's goroutine only.
type Page struct {
	Content  *fyne.Container
	host     *widgets.Host
	note     func(place string) string
	stage    *widgets.Stage
	snapshot *app.Snapshot // that is shown
	cards    []*agentCard
	notes    map[string]string // notes by place; a place that was not checked has none
	looked   []string
}

// New returns the page. note returns a note about a place where an agent's files are read, if something is wrong with it; it is called on another goroutine.
func New(h *widgets.Host, note func(place string) string) *Page {
	p := &Page{host: h, note: note, stage: widgets.NewStage()}
	p.stage.Say(widgets.Message{Title: "Looking for agents…", Text: "Rollcall reads the files and processes of each agent."})
	p.Content = p.stage.Content
	return p
}

// Show shows the agents of a snapshot, while the page is open.
func (p *Page) Show(s *app.Snapshot) {
	p.snapshot = s
	all := describe.Healths(s)
	if len(all) == 0 {
		return
	}
	if !slices.EqualFunc(p.cards, all, func(c *agentCard, h app.Health) bool { return c.name == h.Name }) {
		p.build(all)
	}
	for i, h := range all {
		facts := describe.HealthFacts(h, p.notes, p.host.Now())
		if slices.Contains(s.LeftOut.Agents, h.Name) {
			facts = append([]describe.Field{{Name: "Shown", Value: "no: left out by the settings"}}, facts...)
		}
		p.cards[i].show(h, facts)
	}
	p.look(all)
}

func (p *Page) build(all []app.Health) {
	list := widgets.Rows(10, widgets.Headline("Agents"))
	p.cards = nil
	for _, h := range all {
		c := newAgentCard(p.host, h.Name)
		p.cards = append(p.cards, c)
		list.Add(c.Content)
	}
	p.stage.Show(widgets.Page(list))
}

// look finds the places that are missing or do not respond. It does so on another goroutine, because a place can be on
// a file system that does not respond.
func (p *Page) look(all []app.Health) {
	var places []string
	for _, h := range all {
		places = append(places, h.LookedIn...)
	}
	if slices.Equal(places, p.looked) {
		return
	}
	p.looked = places
	widgets.InBackground(p.host.Context, p.host, func(context.Context) (map[string]string, error) {
		notes := make(map[string]string, len(places))
		for _, place := range places {
			notes[place] = p.note(place)
		}
		return notes, nil
	}, func(notes map[string]string, _ error) {
		p.notes = notes
		p.Show(p.snapshot)
	})
}

// stateText returns an agent's state in words, with its icon and colour.
func stateText(h app.Health) (icon, text string, color fyne.ThemeColorName) {
	switch {
	case h.State == app.OK:
		return "done", "OK", widgets.ColorGood
	case h.State == app.Absent:
		return "absent", "not installed", widgets.ColorMuted
	case h.State == app.Failed:
		return "failed", "failed", widgets.ColorBad
	case h.Asking:
		return "stale", "reading…", widgets.ColorMuted
	}
	return "stale", "not read yet", widgets.ColorMuted
}

// maxProblems is the largest number of problems that are listed.
const maxProblems = 20

// agentCard shows one agent's health. The text of the card is why the agent could not be read.
type agentCard struct {
	*widgets.Card
	name  adapters.Name
	state *widgets.Line
	facts *facts.List
}

func newAgentCard(h *widgets.Host, name adapters.Name) *agentCard {
	c := &agentCard{name: name, facts: facts.New(h, nil), state: widgets.NewLine("", widgets.ColorMuted, theme.SizeNameText, fyne.TextStyle{}).Whole()}
	c.Card = widgets.NewCard(widgets.NewIcon("stale", widgets.ColorMuted), present.AgentName(name), "")
	c.Body.Objects[0] = widgets.Border(nil, nil, widgets.Pad(2, 0, 0, 6, c.state), c.Body.Objects[0]) // beside the title, so that what is below has the whole width
	c.Text.Importance = widget.DangerImportance
	c.Body.Add(widgets.Pad(3, 0, -4, 0, c.facts.Content))
	return c
}

func (c *agentCard) show(h app.Health, facts []describe.Field) {
	icon, text, color := stateText(h)
	problems := present.FirstLines(h.Problems, maxProblems, present.MaxShown)
	changed := c.Text.Text != problems || c.Text.Visible() && problems == ""
	c.Set(widgets.NewIcon(icon, color), problems)
	c.state.Set(text, color)
	c.Text.Hidden = problems == ""
	if c.facts.Show([]describe.Section{{Fields: facts}}, false) || changed {
		c.Content.Refresh()
	}
}
