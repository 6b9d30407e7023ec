package upkeep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/widgets"
)

// Stop shows what a stop of s will do, and stops s once the user agrees.
func (p *Page) Stop(s app.Session) {
	sheet := p.window.NewSheet("Stop this session?", widgets.SheetWidth)
	widgets.Load(sheet, "Reading its processes…", func(ctx context.Context) (*app.StopPlan, error) {
		plan, err := p.window.Core.PlanStop(ctx, s)
		switch {
		case errors.Is(err, app.ErrNotRunning):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("the session cannot be stopped: %w", err)
		}
		return plan, nil
	}, func(plan *app.StopPlan) {
		if plan == nil {
			sheet.ShowResult([]fyne.CanvasObject{widgets.Success("The session is not running any more.")})
			return
		}
		sheet.Confirm(planFacts(plan), p.window.NewPrimaryButton("Stop", widget.DangerImportance, func() { p.stop(sheet, plan) }))
	})
}

// planFacts returns what a plan will do: which processes it stops, how, and what else ends.
func planFacts(p *app.StopPlan) []fyne.CanvasObject {
	facts := []fyne.CanvasObject{facts.Line(&p.Session)}
	switch p.Session.Status {
	case adapters.Working:
		facts = append(facts, widgets.Warning("The session is in the middle of a turn. Unfinished work stays as it is."))
	case adapters.Waiting:
		facts = append(facts, widgets.Warning("The session is waiting for you. Its turn is not over."))
	}
	if p.Through != "" {
		return append(facts, widgets.Paragraph(present.Sentence(present.Short(p.Through))+" stops the session. No process is ended.", widget.MediumImportance))
	}
	facts = append(facts, widgets.NewLabel("Processes"), widgets.Quote(strings.Join(present.Tree(p.Process, p.Tree, p.Commands), "\n")),
		widgets.NewLabel("Signals"), widgets.Paragraph(describe.StopSteps(p.Steps), widget.MediumImportance))
	for _, name := range p.Unasked {
		facts = append(facts, widgets.Warning(present.AgentName(name)+" could not be asked: another of its sessions may end with it."))
	}
	if len(p.Also) == 0 {
		return facts
	}
	lines := make([]string, 0, len(p.Also))
	for i := range p.Also {
		lines = append(lines, present.Cut(describe.Title(&p.Also[i]), 60)+" ("+present.Status(p.Also[i].Session)+")")
	}
	return append(facts, widgets.NewLabel("Other sessions that end"), widgets.Warning(strings.Join(lines, "\n")))
}

// stop carries out a plan, and shows the result.
func (p *Page) stop(sheet *widgets.Sheet, plan *app.StopPlan) {
	name := present.Cut(describe.Title(&plan.Session), 120)
	widgets.Run(sheet, "Stopping…", "“"+name+"” was not stopped: ", func(ctx context.Context, say func(string)) (string, error) {
		r, err := p.window.Core.Stop(ctx, plan, func(step app.StopStep) {
			say(fmt.Sprintf("Sent %s, waiting up to %g s…", step.Signal, step.Grace.Seconds()))
		})
		if errors.Is(err, app.ErrNotRunning) {
			return "The session had already ended.", nil
		}
		return describe.Stopped(plan, r), err
	}, func(how string) {
		sheet.SetTitle("The session is stopped")
		sheet.ShowResult([]fyne.CanvasObject{widgets.Paragraph("“"+name+"”", widget.MediumImportance), widgets.Success(how)})
	})
}

// StopIdle lists the idle sessions that can be stopped, and stops those that stay checked.
func (p *Page) StopIdle() {
	(&widgets.Checklist[*app.StopPlan]{
		Reading: "Reading the idle sessions and their processes…", Doing: "stopping…", Failed: "not stopped: ",
		Read: func(ctx context.Context) (plans []*app.StopPlan, problems []string, _ error) {
			plans = p.window.Core.PlanStopAllIdle(ctx, p.window.Core.Refresh(ctx), func(s *app.Session, err error) {
				problems = append(problems, present.Cut(describe.Title(s), 60)+": "+present.Error(err))
			})
			return plans, problems, nil
		},
		None:  widgets.Paragraph("There is no idle session that can be stopped.", widget.MediumImportance),
		Intro: []string{"These sessions have finished their turns and can be resumed later. A session that begins to work in the meantime is not stopped."},
		Row: func(p *app.StopPlan) widgets.CheckRow {
			return widgets.CheckRow{Text: present.Cut(describe.Title(&p.Session), 90), State: describe.IdlePlan(p), Checked: true}
		},
		Label: func(checked []*app.StopPlan) string {
			return "Stop " + english.Plural(len(checked), "session", "sessions")
		},
		Act: func(ctx context.Context, old *app.StopPlan) (string, error) {
			// Planned again, since the session may have begun to work since its row appeared.
			plan, err := p.window.Core.PlanStopIdle(ctx, old.Session)
			if err != nil {
				return "", err
			}
			r, err := p.window.Core.Stop(ctx, plan, nil)
			return describe.Stopped(plan, r), err
		},
	}).Open(p.window.Host, "Stop idle sessions?", widgets.SheetWidth)
}
