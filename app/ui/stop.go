package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
	"rollcall/proc"
)

// stopper is a core that can stop sessions; *app.Core is one.
type stopper interface {
	PlanStop(ctx context.Context, s app.Session) (*app.StopPlan, error)
	PlanStopIdle(ctx context.Context, s app.Session) (*app.StopPlan, error)
	PlanStopAllIdle(ctx context.Context, snap *app.Snapshot, failed func(*app.Session, error)) []*app.StopPlan
	Stop(ctx context.Context, p *app.StopPlan, progress func(app.StopStep)) (app.StopResult, error)
}

// canStop reports whether a stop is offered for s. Whether it is possible is checked when the user asks for it.
func (u *UI) canStop(s *app.Session) bool {
	_, ok := u.core.(stopper)
	return ok && s.Live() && s.Parent == ""
}

// stopSheet asks before a session is stopped.
type stopSheet struct {
	*widgets.Sheet
	core stopper
	plan *app.StopPlan // nil: the session is not running
}

// stopResult is the result of a stop.
type stopResult struct {
	app.StopResult
	ended bool // the session had ended before
}

// showStop shows what a stop of s will do, and does it once the user agrees.
func (u *UI) showStop(s app.Session) {
	core, ok := u.core.(stopper)
	if !ok {
		return
	}
	d := &stopSheet{Sheet: u.host.NewSheet("Stop this session?", widgets.SheetWidth), core: core}
	widgets.Load(d.Sheet, "Reading its processes…", func(ctx context.Context) (*app.StopPlan, error) {
		plan, err := core.PlanStop(ctx, s)
		switch {
		case errors.Is(err, app.ErrNotRunning):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("the session cannot be stopped: %w", err)
		}
		return plan, nil
	}, func(plan *app.StopPlan) {
		if d.plan = plan; plan == nil {
			d.ShowResult([]fyne.CanvasObject{widgets.Success("The session is not running any more.")})
			return
		}
		d.Confirm(planFacts(plan), u.host.NewPrimaryButton("Stop", widget.DangerImportance, d.stop))
	})
}

func sessionLine(s *app.Session) fyne.CanvasObject {
	text := present.AgentName(s.Agent) + " · " + present.Project(tail(s.CWD, maxRowText)) + " · " + present.Status(s.Session)
	if topic := sessionTitle(s); topic != "" {
		text = "“" + present.Cut(topic, 120) + "”\n" + text
	}
	return widgets.Paragraph(text, widget.MediumImportance)
}

// planFacts shows what a plan will do: to which processes, how, and what else ends.
func planFacts(p *app.StopPlan) []fyne.CanvasObject {
	facts := []fyne.CanvasObject{sessionLine(&p.Session)}
	switch p.Session.Status {
	case adapters.Working:
		facts = append(facts, widgets.Warning("The session is in the middle of a turn. Unfinished work stays as it is."))
	case adapters.Waiting:
		facts = append(facts, widgets.Warning("The session is waiting for you. Its turn is not over."))
	}
	if p.Through != "" {
		return append(facts, widgets.Paragraph(short(p.Through)+" stops the session. No process is ended.", widget.MediumImportance))
	}
	facts = append(facts, widgets.NewLabel("Processes"), widgets.Quote(strings.Join(present.Tree(p.Process, p.Tree), "\n")),
		widgets.NewLabel("Signals"), widgets.Paragraph(stepsText(p.Steps), widget.MediumImportance))
	if len(p.Also) == 0 {
		return facts
	}
	lines := make([]string, 0, len(p.Also))
	for i := range p.Also {
		lines = append(lines, present.Cut(sessionTitle(&p.Also[i]), 60)+" ("+present.Status(p.Also[i].Session)+")")
	}
	return append(facts, widgets.NewLabel("Other sessions that end"), widgets.Warning(strings.Join(lines, "\n")))
}

// stepsText returns which signals are sent, and how long Rollcall waits after each.
func stepsText(steps []app.StopStep) string {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = fmt.Sprintf("%s and waits up to %g s", s.Signal, s.Grace.Seconds())
		if s.Signal == proc.Kill {
			words[i] = s.Signal.String()
		}
	}
	return "Rollcall sends " + strings.Join(words, "; if that is not enough, it sends ") + ". It then ends the processes that the session leaves behind."
}

func (d *stopSheet) stop() {
	name := present.Cut(sessionTitle(&d.plan.Session), 120)
	widgets.Run(d.Sheet, "Stopping…", "“"+name+"” was not stopped: ", func(ctx context.Context, say func(string)) (r stopResult, err error) {
		r.StopResult, err = d.core.Stop(ctx, d.plan, func(step app.StopStep) {
			say(fmt.Sprintf("Sent %s, waiting up to %g s…", step.Signal, step.Grace.Seconds()))
		})
		if errors.Is(err, app.ErrNotRunning) {
			r.ended, err = true, nil
		}
		return r, err
	}, func(r stopResult) {
		d.SetTitle("The session is stopped")
		d.ShowResult([]fyne.CanvasObject{widgets.Paragraph("“"+name+"”", widget.MediumImportance), widgets.Success(stoppedText(d.plan, r))})
	})
}

func stoppedText(plan *app.StopPlan, r stopResult) string {
	took := elapsed(r.Took)
	switch {
	case r.ended:
		return "The session had already ended."
	case plan.Through != "":
		return fmt.Sprintf("%s stopped it after %s.", short(plan.Through), took)
	}
	text := fmt.Sprintf("Stopped by %s after %s.", r.By, took)
	if len(r.Rest) > 0 {
		names := make([]string, 0, len(r.Rest))
		for _, p := range r.Rest {
			names = append(names, fmt.Sprintf("%d %s", p.PID, short(p.Comm)))
		}
		text += " Also ended: " + strings.Join(names, ", ") + "."
	}
	return text
}
