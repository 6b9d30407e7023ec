package upkeep

import (
	"fmt"
	"os"
	"testing"

	"fyne.io/fyne/v2/container"

	"rollcall/app"
	"rollcall/internal/uitest"
	"rollcall/proc"
)

// TestStopShowsEveryProcess: what a stop ends is shown whole, however many processes it is.
func TestStopShowsEveryProcess(t *testing.T) {
	w, _ := open(t, os.Environ)
	plan := &app.StopPlan{Process: proc.Process{Identity: proc.Identity{PID: 1000}, Comm: "claude"}}
	for pid := 1001; pid <= 1060; pid++ {
		plan.Tree = append(plan.Tree, proc.Process{Identity: proc.Identity{PID: pid}, PPID: 1000, Comm: "make"})
	}
	w.SetContent(container.NewVBox(planFacts(plan)...))
	for _, pid := range []int{1001, 1030, 1060} {
		uitest.Shows(t, w.Content(), fmt.Sprintf("\n  %d make", pid))
	}
}
