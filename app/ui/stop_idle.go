package ui

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// idleStop is one of the sessions that could be stopped together.
type idleStop struct {
	plan    *app.StopPlan
	check   *checkBox
	result  *line
	content *fyne.Container
}

// showStopIdle lists the idle sessions that could be stopped, and stops those
// that stay ticked.
func (u *UI) showStopIdle() {
	core, ok := u.core.(stopper)
	if !ok {
		return
	}
	d := u.newSheet("Stop idle sessions?", sheetWidth)
	d.loading("Asking for the idle sessions and their processes…")
	go func() {
		plans, problems := idlePlans(d.ctx, core, u.core.Refresh(d.ctx))
		u.post(func() {
			if d.ctx.Err() == nil {
				d.showIdle(core, plans, problems)
			}
		})
	}()
}

// idlePlans are the plans for all idle sessions that have a process of their own.
func idlePlans(ctx context.Context, core stopper, snap *app.Snapshot) (plans []*app.StopPlan, problems []string) {
	for _, s := range snap.Sessions {
		if s.Status != adapters.Idle || s.Parent != "" || s.Remote != "" || s.Shared {
			continue
		}
		plan, err := core.PlanStop(ctx, s)
		switch {
		case ctx.Err() != nil:
			return nil, nil
		case err != nil:
			problems = append(problems, present.Cut(sessionTitle(&s), 60)+": "+present.Cut(short(err.Error()), 300))
		case plan.Session.Status == adapters.Idle:
			plans = append(plans, plan)
		}
	}
	return plans, problems
}

func (d *sheet) showIdle(core stopper, plans []*app.StopPlan, problems []string) {
	var body []fyne.CanvasObject
	for _, p := range problems[:min(len(problems), maxProblems)] {
		body = append(body, sentence("waiting", colorWaiting, p))
	}
	if len(plans) == 0 {
		body = append(body, paragraph("No idle session could be stopped.", widget.MediumImportance))
		done := d.button("Close", d.close)
		d.show(body, done)
		d.focus(done)
		return
	}
	rows := make([]*idleStop, len(plans))
	back, stop := d.button("Cancel", d.close), d.button("", nil)
	stop.Importance = widget.DangerImportance
	recount := func() {
		n := 0
		for _, r := range rows {
			if r != nil && r.check.Checked {
				n++
			}
		}
		text := "Stop sessions"
		if n > 0 {
			text = "Stop " + count(n, "session", "sessions")
		}
		stop.SetText(text)
		setEnabled(stop, n > 0)
		d.bottom.Refresh()
	}
	body = append(body, paragraph("Their turns are over. They can be resumed later. One that begins to work meanwhile is left alone.", widget.LowImportance))
	for i, p := range plans {
		rows[i] = newIdleStop(d.ui, p, recount)
		body = append(body, rows[i].content)
	}
	stop.OnTapped = func() { d.stopIdle(core, rows, stop, back) }
	d.show(body, back, stop)
	recount()
	d.focus(back)
}

func newIdleStop(u *UI, p *app.StopPlan, changed func()) *idleStop {
	r := &idleStop{plan: p}
	r.check = newCheck(u, present.Cut(sessionTitle(&p.Session), 90), func(bool) { changed() })
	r.check.Checked = true
	text := present.AgentName(p.Session.Agent) + " · " + present.Project(tail(p.Session.CWD, maxRowText)) + fmt.Sprintf(" · process %d", p.Process.PID)
	if n := len(p.Tree); n > 0 {
		text += fmt.Sprintf(" and %d below it", n)
	}
	if n := len(p.Also); n > 0 {
		text += ", ends " + count(n, "other session", "other sessions") + " with it"
	}
	r.result = newLine(text, colorMuted, theme.SizeNameCaptionText, fyne.TextStyle{})
	r.content = container.New(layout.NewCustomPaddedVBoxLayout(-4), r.check,
		container.New(layout.NewCustomPaddedLayout(0, 4, 30, 0), r.result))
	return r
}

// stopIdle stops the ticked ones, one after the other.
func (d *sheet) stopIdle(core stopper, rows []*idleStop, stop, back *button) {
	u := d.ui
	stop.Disable()
	back.SetText("Close")
	var chosen []*idleStop
	for _, r := range rows {
		r.check.Disable()
		if r.check.Checked {
			chosen = append(chosen, r)
			r.result.set("waits its turn", colorMuted)
		}
	}
	go func() {
		for _, r := range chosen {
			u.post(func() { r.result.set("stopping…", colorWorking) })
			text, err := stopIfIdle(u.ctx, core, r.plan)
			u.post(func() {
				if err != nil {
					r.result.set("not stopped: "+present.Cut(short(err.Error()), 300), colorBad)
					if !d.open() {
						u.tell("“" + present.Cut(sessionTitle(&r.plan.Session), 60) + "” was not stopped: " + present.Cut(short(err.Error()), 300))
					}
					return
				}
				r.result.set(text, colorGood)
			})
		}
		u.post(func() { stop.Hide(); d.bottom.Refresh() })
	}()
}

// stopIfIdle stops a session unless it began to work since it was shown.
func stopIfIdle(ctx context.Context, core stopper, shown *app.StopPlan) (string, error) {
	plan, err := core.PlanStop(ctx, shown.Session)
	if err != nil {
		return "", err
	}
	if plan.Session.Status != adapters.Idle {
		return "", fmt.Errorf("%w: it isn't idle any more (%s)", app.ErrMoved, present.Status(plan.Session.Session))
	}
	r, err := core.Stop(ctx, plan, nil)
	if err != nil {
		return "", err
	}
	return stoppedText(plan, r, nil), nil
}
