package ui

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

func phaseOf(v *view) string {
	switch {
	case len(v.rows) > 0:
		return phaseList
	case v.filter != "" && len(v.snapshot.Sessions()) > 0:
		return phaseNone
	case v.scope != allGroups && v.counts != [groups]int{}:
		return phaseScope
	case pending(v.snapshot):
		return phaseLoading
	case len(failures(v.snapshot)) > 0:
		return phaseFailed
	}
	return phaseEmpty
}

// pending reports whether an agent or another machine has not been read yet.
func pending(s *app.Snapshot) bool {
	if s.Generation == 0 && len(s.Adapters) == 0 {
		return true
	}
	for _, a := range s.Adapters {
		if a.State == app.Pending {
			return true
		}
	}
	return slices.ContainsFunc(s.Machines, func(m app.MachineHealth) bool { return m.State == app.Pending })
}

func (p *sessionsPage) showPhase() {
	if p.phase = phaseOf(p.view); p.ui.scope == needsYou {
		p.phase = p.askedPhase()
	}
	switch p.phase {
	case phaseList:
		p.body.Show(p.list)
	case phaseNone, phaseScope:
		p.body.Say(p.message())
	default:
		p.whole.Say(p.message())
		return
	}
	p.whole.Show(p.main)
}

// message returns the message of the phase.
func (p *sessionsPage) message() widgets.Message {
	button := func(text string, tapped func()) fyne.CanvasObject { return p.ui.host.NewButton(text, nil, tapped) }
	all := button("Show all sessions", func() { p.ui.showScope(allGroups) })
	refresh := p.ui.host.NewButton("Refresh", widgets.PlainIcon("refresh"), p.ui.Refresh)
	troubled := []fyne.CanvasObject{refresh, button("Details", func() { p.ui.open(pageAgents) })}
	snap := p.view.snapshot
	switch p.phase {
	case phaseNone:
		return widgets.Message{Icon: "search", Color: widgets.ColorMuted, Title: "Nothing matches “" + present.Cut(present.Line(p.view.filter), 40) + "”",
			Text: "The filter searches project, agent, title, prompts, branch, id and status.", Actions: []fyne.CanvasObject{button("Clear filter", p.clearFilter)}}
	case phaseScope:
		return widgets.Message{Icon: "done", Color: widgets.ColorMuted, Title: "No session is " + strings.ToLower(group(p.view.scope-1).String()) + " now", Actions: []fyne.CanvasObject{all}}
	case phaseAsking:
		return widgets.Message{Busy: true, Title: "Looking for requests…", Text: "Rollcall asks each agent what waits for you."}
	case phaseUnknown:
		return widgets.Trouble("Nothing is known to wait for you", problemText(snap), troubled...)
	case phaseQuiet:
		text := "When a session asks for a permission or has a question, it is shown here."
		if p.kind == resultDone || p.kind == resultFailed {
			text = p.outcome
		}
		return widgets.Message{Icon: "done", Color: widgets.ColorGood, Title: "Nothing waits for you", Text: text, Actions: []fyne.CanvasObject{all}}
	case phaseLoading:
		text := strings.TrimSpace("Rollcall reads the files and processes of each agent.\n" + sentence(p.reading))
		return widgets.Message{Busy: true, Title: "Looking for sessions…", Text: text}
	case phaseFailed:
		return widgets.Trouble("Cannot read the sessions of "+join(namesOf(failures(snap))), problemText(snap), troubled...)
	}
	empty := widgets.Message{Icon: "idle", Color: widgets.ColorMuted, Title: "No sessions", Actions: []fyne.CanvasObject{button(newAgent, p.ui.ShowLaunch), refresh}}
	left := p.leftOutLine()
	if names := installed(snap); len(names) > 0 {
		empty.Text = "Rollcall looked for sessions of " + join(names) + " and shows them here as soon as there are any." + left
	} else if left != "" {
		empty.Title, empty.Text = "No sessions are shown", strings.TrimSpace(left)
	} else {
		empty.Icon, empty.Title = "absent", "No coding agents found"
		empty.Text = "This machine has no files or processes of a coding agent. The launch page shows how to install one."
	}
	return empty
}

// leftOutLine returns a line about the agents that the settings leave out; empty: there are none.
func (p *sessionsPage) leftOutLine() string {
	if left := present.LeftOut(p.view.snapshot.LeftOut.Agents); left != "" {
		return "\n" + sentence(left)
	}
	return ""
}
