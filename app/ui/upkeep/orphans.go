package upkeep

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize/english"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// orphan is a process that a session left behind, with what is shown of it.
type orphan struct {
	app.LeftBehind
	facts string
}

// EndOrphans lists the processes that agents left behind, and ends those that the user checks.
func (p *Page) EndOrphans() {
	(&widgets.Checklist[orphan]{
		Reading: "Reading the processes and the sessions…", Doing: "ending…", Failed: "not ended: ",
		Read: func(ctx context.Context) (orphans []orphan, problems []string, err error) {
			left, unknown, err := p.window.Core.LeftBehind(ctx)
			for i := range left {
				orphans = append(orphans, orphan{left[i], p.orphanFacts(&left[i])})
			}
			for _, name := range unknown {
				problems = append(problems, present.AgentName(name)+" could not be asked which of its sessions are over. What these left behind is not listed.")
			}
			return orphans, problems, err
		},
		None:  widgets.Paragraph("No agent left a process behind, as far as that can be known.", widget.MediumImportance),
		Intro: []string{"Sessions that are over started these processes. Look at the command first: other programs may use a server that an agent started."},
		Row: func(o orphan) widgets.CheckRow {
			root := o.Tree[0]
			command := present.When(o.Commands[root.Identity] == "", present.Short(root.Comm)) + present.Line(o.Commands[root.Identity])
			return widgets.CheckRow{Text: present.Cut(fmt.Sprintf("%d %s", root.PID, command), 100), State: o.facts}
		},
		Label: func(checked []orphan) string {
			n := 0
			for _, o := range checked {
				n += len(o.Tree)
			}
			return "End " + english.Plural(n, "process", "processes")
		},
		Act: func(ctx context.Context, o orphan) (string, error) {
			ended, err := p.window.Core.EndLeftBehind(ctx, &o.LeftBehind)
			p.window.Post(p.window.Ended)
			return "ended " + english.Plural(len(ended), "process", "processes"), err
		},
	}).Open(p.window.Host, "Processes left behind", 680)
}

// orphanFacts returns where a process that was left behind comes from, its age, and the memory and ports that it and those below it use.
func (p *Page) orphanFacts(l *app.LeftBehind) string {
	memory, ports := p.window.Core.Uses(l.Tree...)
	words := []string{present.AgentName(l.Agent) + " " + present.When(l.Session == "", "(session not known)") + present.Cut(present.Short(l.Session), 40), "began " + present.Ago(l.Tree[0].Started, p.window.Now())}
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
