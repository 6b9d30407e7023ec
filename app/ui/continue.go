package ui

import (
	"context"
	"strings"
	"time"

	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/app/store/quiet"
	"rollcall/app/ui/widgets"
)

// canContinue reports whether the window offers to continue a session later, at the reset of the limit that it reached.
func (u *UI) canContinue(s *app.Session) bool {
	return u.options.Fuses != nil && fuse.CheckContinue(s, u.canSend(s)) == nil
}

// showContinue opens the form that sets the timer of a session that reached a limit.
func (u *UI) showContinue(s app.Session) {
	f := u.host.NewForm("Continue this session later", "Set timer", "The timer was not set: ")
	when := f.NewEntry("15:05, or 2026-11-28 09:00")
	prompt := f.NewEntry(fuse.Prompt)
	prompt.SetText(fuse.Prompt)
	hint := "Its agent has not recorded when the limit is reset."
	if at, err := fuse.AtReset(&s, u.now()); err == nil {
		hint = "The limit is reset at " + dayTime(s.LimitedUntil) + "."
		when.SetText(at.Local().Format("2006-01-02 15:04"))
	}
	f.Ready = func() bool { return strings.TrimSpace(when.Text) != "" && strings.TrimSpace(prompt.Text) != "" }
	f.Submit = func() func(context.Context) error {
		at, text := when.Text, prompt.Text
		return func(ctx context.Context) error {
			defer u.locks.look()
			expires, err := quiet.ParseUntil(at, time.Now())
			if err == nil {
				_, err = u.options.Fuses.SetContinue(ctx, &s, text, expires)
			}
			return err
		}
	}
	f.Open(widgets.Hint(hint+" At that time Rollcall gives the session the prompt once, if it was not used until then, also while tray and window are closed. Locks & timers shows the timer and its result, and cancels it."),
		sessionLine(&s), widgets.Named("Time", when), widgets.Named("Prompt", prompt))
	f.Check()
	f.Focus(f.Primary)
}
