//go:build !headless

package desktop

import (
	"context"
	"errors"
	"slices"

	"rollcall/app"
	"rollcall/app/control/show"
	"rollcall/app/present"
	"rollcall/app/self/instance"
	"rollcall/notify"
	"rollcall/proc"
)

// shower returns the Shower that shows sessions outside of Rollcall's own windows, such as in their terminals.
func (p *parts) shower() *show.Shower {
	return show.New(p.core, proc.Open(), p.settings)
}

// showTerminal returns tray.Options.ShowTerminal. Where a terminal can't be shown, a notification gives the reason, and the window shows the
// session.
func (p *parts) showTerminal(ctx context.Context, n *notify.Notifier) func(session string) {
	shower := p.shower()
	return func(id string) {
		list := p.core.Snapshot().Own
		i := slices.IndexFunc(list, func(s app.Session) bool { return s.ID == id && s.Machine == "" })
		if i < 0 {
			return
		}
		plan, err := shower.Show(ctx, list[i].Agent, id)
		if err == nil || ctx.Err() != nil {
			return
		}
		text := notify.Text{Title: "The terminal can't be shown", Body: present.Line(err.Error())}
		var not *show.NotShownError
		if errors.As(err, &not) {
			text.Body = present.Line(not.Reason())
		}
		if plan != nil && len(plan.Offers) > 0 && plan.Offers[0].Command != nil {
			text.Body += ". To " + plan.Offers[0].Text + ": " + present.Line(plan.Offers[0].Shell())
		}
		n.Say("terminal", text, id, nil)
		p.openWindow(instance.Show, id)
	}
}
