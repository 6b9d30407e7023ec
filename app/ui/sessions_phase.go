package ui

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2"

	"rollcall/app/describe"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/ui/launchpage"
	"rollcall/app/ui/widgets"
)

// showPhase shows the list, or what is in its place.
func (p *sessionsPage) showPhase() {
	switch m, fills := p.instead(); {
	case m == nil:
		p.body.Show(p.list)
	case fills:
		p.whole.Say(*m)
		p.panes.show(false)
		return
	default:
		p.body.Say(*m)
	}
	p.whole.Show(p.main)
}

func (p *sessionsPage) button(text string, tapped func()) fyne.CanvasObject {
	return p.ui.host.NewButton(text, nil, tapped)
}

// instead returns the message in place of the list, and whether it fills the page; nil: the list is shown.
func (p *sessionsPage) instead() (m *widgets.Message, fills bool) {
	v := p.view
	snap := p.view.Snapshot
	asking := p.ui.scope == listing.NeedsYou
	all := []fyne.CanvasObject{p.button("Show all sessions", func() { p.ui.showScope(listing.AllGroups) })}
	filtered := len(snap.Sessions())
	if asking {
		filtered = len(p.ui.asking.asked)
	}
	switch {
	case len(v.Rows) > 0:
		return nil, false
	case v.Filter != "" && filtered > 0:
		return &widgets.Message{Icon: "search", Color: widgets.ColorMuted, Title: "Nothing matches “" + present.Cut(present.Line(v.Filter), 40) + "”",
			Text: "The filter searches project, agent, title, prompts, branch, id and status.", Actions: []fyne.CanvasObject{p.button("Clear filter", p.clearFilter)}}, false
	case !asking && v.Scope != listing.AllGroups && v.Counts != [listing.Groups]int{}:
		return &widgets.Message{Icon: "done", Color: widgets.ColorMuted, Title: "No session is " + strings.ToLower(listing.Group(v.Scope-1).String()) + " now", Actions: all}, false
	case asking && (describe.Pending(snap) || !p.ui.asking.loaded && describe.IsWaiting(snap, "")):
		return &widgets.Message{Busy: true, Title: "Looking for requests…", Text: "Rollcall asks each agent what waits for you."}, true
	case describe.Pending(snap):
		text := strings.TrimSpace("Rollcall reads the files and processes of each agent.\n" + present.Sentence(p.reading))
		return &widgets.Message{Busy: true, Title: "Looking for sessions…", Text: text}, true
	case len(describe.Failures(snap)) > 0:
		title := "Nothing is known to wait for you"
		if !asking {
			title = "Cannot read the sessions of " + present.Join(describe.Names(describe.Failures(snap)))
		}
		m := widgets.Trouble(title, describe.Problems(snap), p.refresh(), p.button("Details", p.ui.opens(pageAgents)))
		return &m, true
	case asking:
		for _, o := range p.offers {
			return &widgets.Message{Icon: "done", Color: widgets.ColorGood, Title: "Nothing waits for you", Text: p.outcome + "\n" + o.text(), Actions: append(all, o.button(p.ui))}, true
		}
		text := cmp.Or(p.outcome, "When a session asks for a permission or has a question, it is shown here.")
		return &widgets.Message{Icon: "done", Color: widgets.ColorGood, Title: "Nothing waits for you", Text: text, Actions: all}, true
	}
	return p.empty(), true
}

func (p *sessionsPage) refresh() fyne.CanvasObject {
	return p.ui.host.NewButton("Refresh", widgets.PlainIcon("refresh"), p.ui.Refresh)
}

// empty returns the message in place of the list when there are no sessions.
func (p *sessionsPage) empty() *widgets.Message {
	m := &widgets.Message{Icon: "idle", Color: widgets.ColorMuted, Title: "No sessions", Actions: []fyne.CanvasObject{p.button(launchpage.Title, p.ui.ShowLaunch), p.refresh()}}
	left := present.LeftOut(p.view.Snapshot.LeftOut.Agents)
	switch names := describe.Installed(p.view.Snapshot); {
	case len(names) > 0:
		m.Text = strings.TrimSpace("Rollcall looked for sessions of " + present.Join(names) + " and shows them here as soon as there are any.\n" + present.Sentence(left))
	case left != "":
		m.Title, m.Text = "No sessions are shown", present.Sentence(left)
	default:
		m.Icon, m.Title = "absent", "No coding agents found"
		m.Text = "This machine has no files or processes of a coding agent. The launch page shows how to install one."
	}
	return m
}
