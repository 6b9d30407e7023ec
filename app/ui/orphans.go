package ui

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// orphans are the processes that sessions left behind, with what is shown of each, and the agents that could not be asked.
type orphans struct {
	left    []app.LeftBehind
	facts   []string
	unknown []adapters.Name
}

// showOrphans lists the processes that agents left behind, and ends those that the user checks.
func (u *UI) showOrphans() {
	s := u.host.NewSheet("Processes left behind", 680)
	widgets.Load(s, "Reading the processes and the sessions…", func(ctx context.Context) (o orphans, err error) {
		o.left, o.unknown, err = u.core.LeftBehind(ctx)
		for i := range o.left {
			o.facts = append(o.facts, u.orphanFacts(&o.left[i]))
		}
		return o, err
	}, func(o orphans) { u.offerOrphans(s, o) })
}

func (u *UI) offerOrphans(s *widgets.Sheet, o orphans) {
	var body []fyne.CanvasObject
	for _, name := range o.unknown {
		body = append(body, widgets.Warning(present.AgentName(name)+" could not be asked which of its sessions are over. What these left behind is not listed."))
	}
	if len(o.left) == 0 {
		s.ShowResult(append(body, widgets.Paragraph("No agent left a process behind, as far as that can be known.", widget.MediumImportance)))
		return
	}
	c := s.NewChecklist("ending…", "not ended: ")
	c.Label = func(checked []*widgets.CheckItem) string {
		n := 0
		for _, i := range checked {
			n += len(o.left[i.Index].Tree)
		}
		return "End " + english.Plural(n, "process", "processes")
	}
	c.Act = func(ctx context.Context, i *widgets.CheckItem) (string, error) {
		ended, err := u.core.EndLeftBehind(ctx, &o.left[i.Index])
		u.post(u.sessions.readLeft)
		return "ended " + english.Plural(len(ended), "process", "processes"), err
	}
	for i, l := range o.left {
		root := l.Tree[0]
		command := present.Cut(fmt.Sprintf("%d %s", root.PID, present.When(l.Commands[root.Identity] == "", present.Short(root.Comm))+present.Line(l.Commands[root.Identity])), 100)
		c.Add(command, o.facts[i], widget.LowImportance, false, true)
	}
	c.Ask(append(body, widgets.Hint("Sessions that are over started these processes. Look at the command first: other programs may use a server that an agent started."))...)
}

// orphanFacts returns where a process that was left behind comes from, its age, and the memory and ports that it and those below it use.
func (u *UI) orphanFacts(l *app.LeftBehind) string {
	memory, ports := u.core.Uses(l.Tree...)
	words := []string{present.AgentName(l.Agent) + " " + present.When(l.Session == "", "(session not known)") + present.Cut(present.Short(l.Session), 40), "began " + present.Ago(l.Tree[0].Started, u.host.Now())}
	if memory > 0 {
		words = append(words, present.Size(int64(memory)))
	}
	for _, port := range ports {
		words = append(words, fmt.Sprintf("port %d", port))
	}
	if n := len(l.Tree) - 1; n > 0 {
		words = append(words, fmt.Sprintf("with %d below it", n))
	}
	return strings.Join(words, " · ")
}

// leftReader reads what the sessions that are over left behind. Its fields are used on Fyne's goroutine.
type leftReader struct {
	counts  app.LeftCounts
	reading bool
	over    int // how many listed sessions were over when it was read last
}

// readLeft reads what the listed sessions left behind, and shows it. What is not known is said by the sheet alone.
func (p *sessionsPage) readLeft() {
	l := &p.behind
	l.over = p.view.Counts[listing.Stopped]
	if l.reading || l.over == 0 {
		return
	}
	l.reading = true
	widgets.InBackground(p.ui.ctx, p.ui.host, func(ctx context.Context) (app.LeftCounts, error) {
		counts, _, err := p.ui.core.CountsLeftBehind(ctx)
		return counts, err
	}, func(counts app.LeftCounts, _ error) {
		l.reading = false
		if !maps.Equal(counts, l.counts) {
			l.counts = counts
			p.showSelected()
		}
	})
}
