package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/proc"
)

// stopper is a core that can stop sessions; *app.Core is one.
type stopper interface {
	PlanStop(ctx context.Context, s app.Session) (*app.StopPlan, error)
	Stop(ctx context.Context, p *app.StopPlan, progress func(app.StopStep)) (app.StopResult, error)
}

// canStop says whether it makes sense to offer a stop: what exactly will be done,
// or why it can't be, is found out when the user asks for it.
func (u *UI) canStop(s *app.Session) bool {
	_, ok := u.core.(stopper)
	return ok && s.Live() && s.Parent == ""
}

// showStop shows what a stop of s will do, and does it once the user agrees.
func (u *UI) showStop(s app.Session) {
	core, ok := u.core.(stopper)
	if !ok {
		return
	}
	d := u.newSheet("Stop this session?", sheetWidth)
	d.loading("Looking at its processes…")
	go func() {
		plan, err := core.PlanStop(d.ctx, s)
		u.post(func() {
			switch {
			case d.ctx.Err() != nil:
			case errors.Is(err, app.ErrNotRunning):
				d.show([]fyne.CanvasObject{sentence("done", colorGood, "It is not running any more.")}, d.button("Close", d.close))
			case err != nil:
				d.failed("It can't be stopped: " + present.Cut(short(err.Error()), 1000))
			default:
				d.showPlan(core, plan)
			}
		})
	}()
}

// showPlan asks whether to do what a plan says.
func (d *sheet) showPlan(core stopper, plan *app.StopPlan) {
	body := []fyne.CanvasObject{paragraph(sessionLine(&plan.Session), widget.MediumImportance)}
	switch plan.Session.Status {
	case adapters.Working:
		body = append(body, sentence("waiting", colorWaiting, "It is in the middle of a turn. What it has not finished stays as it is."))
	case adapters.Waiting:
		body = append(body, sentence("waiting", colorWaiting, "It waits for you: its turn is not over."))
	}
	body = append(body, planFacts(plan)...)
	back := d.button("Cancel", d.close)
	stop := d.button("Stop it", func() { d.stop(core, plan) })
	stop.Importance = widget.DangerImportance
	d.show(body, back, stop)
	d.focus(back)
}

func sessionLine(s *app.Session) string {
	text := present.AgentName(s.Agent) + " · " + present.Project(tail(s.CWD, maxRowText)) + " · " + present.Status(s.Session)
	if topic := sessionTitle(s); topic != "" {
		text = "“" + present.Cut(topic, 120) + "”\n" + text
	}
	return text
}

// planFacts are what a plan will do: to which processes, how, and what else ends.
func planFacts(p *app.StopPlan) []fyne.CanvasObject {
	if p.Through != "" {
		return []fyne.CanvasObject{paragraph("It is asked of "+short(p.Through)+". No process is ended.", widget.MediumImportance)}
	}
	facts := []fyne.CanvasObject{label("Its processes"), quote(strings.Join(treeLines(p), "\n")), label("How"), paragraph(stepsText(p.Steps), widget.MediumImportance)}
	if len(p.Also) > 0 {
		lines := make([]string, 0, len(p.Also))
		for i := range p.Also {
			lines = append(lines, present.Cut(sessionTitle(&p.Also[i]), 60)+" ("+present.Status(p.Also[i].Session)+")")
		}
		facts = append(facts, label("Ends with it"), sentence("waiting", colorWaiting, strings.Join(lines, "\n")))
	}
	return facts
}

// stepsText says which signals are sent, and how long each is given.
func stepsText(steps []app.StopStep) string {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = fmt.Sprintf("%s, and has %g s to end", s.Signal, s.Grace.Seconds())
		if s.Signal == proc.Kill {
			words[i] = s.Signal.String()
		}
	}
	return "It gets the signal " + strings.Join(words, "; if that is not enough, ") + ". What it started and leaves behind is ended as well."
}

// treeLines are the processes of a plan, each below the one that started it.
func treeLines(p *app.StopPlan) []string {
	below := map[int][]proc.Process{}
	for _, r := range p.Tree {
		below[r.PPID] = append(below[r.PPID], r)
	}
	var lines []string
	var add func(r proc.Process, depth int)
	add = func(r proc.Process, depth int) {
		lines = append(lines, strings.Repeat("   ", depth)+fmt.Sprintf("%d %s", r.PID, short(r.Comm)))
		for _, c := range below[r.PID] {
			add(c, depth+1)
		}
	}
	add(p.Process, 0)
	if len(lines) > maxTree {
		lines = append(lines[:maxTree], fmt.Sprintf("and %d more", len(lines)-maxTree))
	}
	return lines
}

const maxTree = 30

// stop carries out a plan and tells of each step. The sheet may be closed
// meanwhile: what was begun is done.
func (d *sheet) stop(core stopper, plan *app.StopPlan) {
	u := d.ui
	log := paragraph("Stopping…", widget.MediumImportance)
	busy := widget.NewActivity()
	busy.Start()
	d.show([]fyne.CanvasObject{border(nil, container.New(layout.NewCustomPaddedLayout(6, 6, 6, 2), container.NewGridWrap(fyne.NewSquareSize(20), busy)), nil, log)},
		d.button("Close", d.close))
	d.busy = busy
	go func() {
		r, err := core.Stop(u.ctx, plan, func(step app.StopStep) {
			u.post(func() { log.SetText(fmt.Sprintf("Sent %s, waiting up to %g s…", step.Signal, step.Grace.Seconds())) })
		})
		u.post(func() { d.stopped(plan, r, err) })
	}()
}

func (d *sheet) stopped(plan *app.StopPlan, r app.StopResult, err error) {
	if !d.open() {
		if err != nil {
			d.ui.tell(short(plan.Session.ID) + " was not stopped: " + short(err.Error()))
		}
		return
	}
	if err != nil && !errors.Is(err, app.ErrNotRunning) {
		d.failed("It was not stopped: " + present.Cut(short(err.Error()), 1000))
		return
	}
	d.head.SetText("The session is stopped")
	done := d.button("Close", d.close)
	d.show([]fyne.CanvasObject{paragraph("“"+present.Cut(sessionTitle(&plan.Session), 120)+"”", widget.MediumImportance), sentence("done", colorGood, stoppedText(plan, r, err))}, done)
	d.focus(done)
}

func stoppedText(plan *app.StopPlan, r app.StopResult, err error) string {
	took := elapsed(r.Took)
	switch {
	case err != nil:
		return "It had ended by itself."
	case plan.Through != "":
		return fmt.Sprintf("%s stopped it, after %s.", short(plan.Through), took)
	}
	text := fmt.Sprintf("Stopped by %s, after %s.", r.By, took)
	if n := len(r.Rest); n > 0 {
		names := make([]string, 0, n)
		for _, p := range r.Rest {
			names = append(names, fmt.Sprintf("%d %s", p.PID, short(p.Comm)))
		}
		text += " Ended what it left: " + strings.Join(names, ", ") + "."
	}
	return text
}
