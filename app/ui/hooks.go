package ui

import (
	"context"
	"slices"

	"rollcall/app"
	"rollcall/app/ui/widgets"
)

// canRetryHooks reports whether the launch of a session has a hook that was started and whose result is unknown.
func (u *UI) canRetryHooks(s *app.Session) bool {
	return u.options.Launches != nil && s.Launch != nil && slices.ContainsFunc(s.Launch.Hooks, func(h app.Hook) bool { return h.Lost })
}

// retryHooks makes the tray run those hooks again.
func (u *UI) retryHooks(b *widgets.Button, s *app.Session) {
	if !u.canRetryHooks(s) {
		return
	}
	id := s.Launch.ID
	u.change(b, "The hooks were not retried: ", func(ctx context.Context) error { return u.options.Launches.RetryHooks(ctx, id) })
}
