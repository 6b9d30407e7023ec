package ui

import (
	"fmt"
	"testing"

	"fyne.io/fyne/v2/container"

	"rollcall/app"
	"rollcall/proc"
)

// TestStopShowsEveryProcess: what a stop ends is shown whole, however many processes it is.
func TestStopShowsEveryProcess(t *testing.T) {
	w := open(t, full())
	plan := &app.StopPlan{Process: proc.Process{Identity: proc.Identity{PID: 1000}, Comm: "claude"}}
	for pid := 1001; pid <= 1060; pid++ {
		plan.Tree = append(plan.Tree, proc.Process{Identity: proc.Identity{PID: pid}, PPID: 1000, Comm: "make"})
	}
	w.win.SetContent(container.NewVBox(planFacts(plan)...))
	for _, pid := range []int{1001, 1030, 1060} {
		shows(t, w.win.Content(), fmt.Sprintf("\n  %d make", pid))
	}
}
