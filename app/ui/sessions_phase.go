package ui

import (
	"fmt"
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
		p.body.Show(p.phase, func() fyne.CanvasObject { return p.list })
	case phaseNone:
		p.body.Show(p.phase+p.view.filter, func() fyne.CanvasObject {
			return widgets.NewMessage(widgets.Sign("search", widgets.ColorMuted), "Nothing matches “"+present.Cut(present.Line(p.view.filter), 40)+"”",
				"The filter searches project, agent, title, prompts, branch, id and status.",
				p.ui.host.NewButton("Clear filter", nil, p.clearFilter))
		})
	case phaseScope:
		p.body.Show(p.phase+group(p.view.scope-1).String(), func() fyne.CanvasObject {
			return widgets.NewMessage(widgets.Sign("done", widgets.ColorMuted), "No session is "+strings.ToLower(group(p.view.scope-1).String())+" now", "",
				p.ui.host.NewButton("Show all sessions", nil, func() { p.ui.showScope(allGroups) }))
		})
	default:
		name := strings.Join([]string{p.phase, p.reading, p.leftOutLine(), problemText(p.view.snapshot), p.outcome, fmt.Sprint(installed(p.view.snapshot))}, "\n")
		p.whole.Show(name, func() fyne.CanvasObject { return p.message(p.phase) })
		return
	}
	p.whole.Show(phaseList, func() fyne.CanvasObject { return p.main })
}

// message returns the message that fills the page.
func (p *sessionsPage) message(phase string) fyne.CanvasObject {
	refresh := p.ui.host.NewButton("Refresh", widgets.PlainIcon("refresh"), p.ui.Refresh)
	switch phase {
	case phaseAsking:
		return p.whole.Busy("Looking for requests…", "Rollcall asks each agent what waits for you.")
	case phaseUnknown:
		details := p.ui.host.NewButton("Details", nil, func() { p.ui.open(pageAgents) })
		return widgets.NewMessage(widgets.Sign("waiting", widgets.ColorWaiting), "Nothing is known to wait for you", problemText(p.view.snapshot), refresh, details)
	case phaseQuiet:
		text := "When a session asks for a permission or has a question, it is shown here."
		if p.kind == resultDone || p.kind == resultFailed {
			text = p.outcome
		}
		return widgets.NewMessage(widgets.Sign("done", widgets.ColorGood), "Nothing waits for you", text,
			p.ui.host.NewButton("Show all sessions", nil, func() { p.ui.showScope(allGroups) }))
	case phaseLoading:
		text := "Rollcall reads the files and processes of each agent."
		if p.reading != "" {
			text += "\n" + sentence(p.reading)
		}
		return p.whole.Busy("Looking for sessions…", text)
	case phaseFailed:
		details := p.ui.host.NewButton("Details", nil, func() { p.ui.open(pageAgents) })
		return widgets.NewMessage(widgets.Sign("waiting", widgets.ColorWaiting), "Cannot read the sessions of "+join(namesOf(failures(p.view.snapshot))),
			problemText(p.view.snapshot), refresh, details)
	}
	launch := p.ui.host.NewButton(newAgent, nil, p.ui.ShowLaunch)
	if names := installed(p.view.snapshot); len(names) > 0 {
		return widgets.NewMessage(widgets.Sign("idle", widgets.ColorMuted), "No sessions",
			"Rollcall looked for sessions of "+join(names)+" and shows them here as soon as there are any."+p.leftOutLine(), launch, refresh)
	}
	if left := p.leftOutLine(); left != "" {
		return widgets.NewMessage(widgets.Sign("idle", widgets.ColorMuted), "No sessions are shown", strings.TrimSpace(left), launch, refresh)
	}
	return widgets.NewMessage(widgets.Sign("absent", widgets.ColorMuted), "No coding agents found",
		"This machine has no files or processes of a coding agent. The launch page shows how to install one.", launch, refresh)
}

// leftOutLine returns a line about the agents that the settings leave out; empty: there are none.
func (p *sessionsPage) leftOutLine() string {
	if left := present.LeftOut(p.view.snapshot.LeftOut.Agents); left != "" {
		return "\n" + sentence(left)
	}
	return ""
}
