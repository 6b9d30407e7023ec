package ui

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// idlePlans contains the plans to stop the idle sessions, and why some cannot be stopped.
type idlePlans struct {
	plans    []*app.StopPlan
	problems []string
}

// showStopIdle lists the idle sessions that can be stopped, and stops those that stay checked.
func (u *UI) showStopIdle() {
	core, ok := u.core.(stopper)
	if !ok {
		return
	}
	s := u.host.NewSheet("Stop idle sessions?", widgets.SheetWidth)
	widgets.Load(s, "Reading the idle sessions and their processes…", func(ctx context.Context) (found idlePlans, _ error) {
		found.plans = core.PlanStopAllIdle(ctx, u.core.Refresh(ctx), func(s *app.Session, err error) {
			found.problems = append(found.problems, present.Cut(sessionTitle(s), 60)+": "+errorText(err))
		})
		return found, nil
	}, func(found idlePlans) { u.offerIdle(s, core, found) })
}

func (u *UI) offerIdle(s *widgets.Sheet, core stopper, found idlePlans) {
	var body []fyne.CanvasObject
	for _, p := range found.problems[:min(len(found.problems), maxProblems)] {
		body = append(body, widgets.Warning(p))
	}
	if len(found.plans) == 0 {
		s.ShowResult(append(body, widgets.Paragraph("There is no idle session that can be stopped.", widget.MediumImportance)))
		return
	}
	c := s.NewChecklist("stopping…", "not stopped: ")
	c.Label = func(checked []*widgets.CheckItem) string {
		if len(checked) == 0 {
			return "Stop sessions"
		}
		return "Stop " + count(len(checked), "session", "sessions")
	}
	c.Act = func(ctx context.Context, i *widgets.CheckItem) (string, error) {
		// Planned again: the session may have begun to work since it was shown.
		plan, err := core.PlanStopIdle(ctx, found.plans[i.Index].Session)
		if err != nil {
			return "", err
		}
		r, err := core.Stop(ctx, plan, nil)
		return stoppedText(plan, stopResult{StopResult: r}), err
	}
	for _, p := range found.plans {
		c.Add(present.Cut(sessionTitle(&p.Session), 90), idleText(p), widget.LowImportance, true, true)
	}
	c.Ask(append(body, widgets.Hint("These sessions have finished their turns and can be resumed later. A session that begins to work in the meantime is not stopped."))...)
}

func idleText(p *app.StopPlan) string {
	text := present.AgentName(p.Session.Agent) + " · " + present.Project(tail(p.Session.CWD, maxRowText)) + fmt.Sprintf(" · process %d", p.Process.PID)
	if n := len(p.Tree); n > 0 {
		text += fmt.Sprintf(" and %d below it", n)
	}
	if n := len(p.Also); n > 0 {
		text += ", also ends " + count(n, "other session", "other sessions")
	}
	return text
}
