package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/ui/widgets"
)

// canSend reports whether the window offers to send a prompt to a session. Only the attempt shows whether the agent accepts it.
func (u *UI) canSend(s *app.Session) bool {
	return u.answers().TakesPrompts(s) && s.Live() && s.Machine == "" && s.Stale == nil && !s.IsProcess() && !s.Suspended
}

// canInterrupt reports whether the window offers to interrupt a session. Only the attempt shows whether it is
// possible.
func (u *UI) canInterrupt(s *app.Session) bool {
	inTurn := s.Status == adapters.Working || s.Status == adapters.Waiting
	return u.answers().TakesInterrupts(s) && inTurn && s.Machine == "" && s.Stale == nil && !s.Suspended
}

// showInterrupt asks for confirmation, and then ends the turn of a session. The session continues to run.
func (u *UI) showInterrupt(s app.Session) {
	sheet := u.host.NewSheet("Interrupt this turn?", widgets.SheetWidth)
	sheet.Confirm([]fyne.CanvasObject{sessionLine(&s), widgets.Paragraph("The agent stops what it does, and the session waits for your next prompt. No process is ended.", widget.MediumImportance)},
		u.host.NewPrimaryButton("Interrupt", widget.WarningImportance, func() {
			widgets.Run(sheet, "Interrupting…", "The turn was not interrupted: ", func(ctx context.Context, _ func(string)) (struct{}, error) {
				return struct{}{}, u.answers().Interrupt(ctx, s.Agent, s.ID)
			}, func(struct{}) {
				if sheet.IsOpen() {
					sheet.ShowResult([]fyne.CanvasObject{sessionLine(&s), widgets.Success("The agent was asked to end the turn.")})
				}
			})
		}))
}
