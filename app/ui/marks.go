package ui

import (
	"context"

	"fyne.io/fyne/v2"

	"rollcall/app"
	"rollcall/app/ui/widgets"
)

// markItems returns the items that name, pin and hide a session; none if Rollcall keeps no notes about it.
func (u *UI) markItems(s *app.Session) []*fyne.MenuItem {
	if u.options.Marks == nil || s.Machine != "" || s.IsProcess() || s.Launch != nil && s.Launch.Unlisted {
		return nil
	}
	pin, hide := map[bool]string{true: "Unpin", false: "Pin"}[s.Pinned], map[bool]string{true: "Don't hide", false: "Hide"}[s.Hidden]
	x := *s
	return []*fyne.MenuItem{
		fyne.NewMenuItem("Rename…", func() { u.showRename(x) }),
		fyne.NewMenuItem(pin, func() { u.mark(&x, func(m *app.Mark) { m.Pinned = !x.Pinned }) }),
		fyne.NewMenuItem(hide, func() { u.mark(&x, func(m *app.Mark) { m.Hidden = !x.Hidden }) }),
	}
}

// showRename opens the form that gives a session a name.
func (u *UI) showRename(s app.Session) {
	f := u.host.NewForm("Rename the session", "Rename", "The session was not renamed: ")
	name := f.NewEntry(sessionTitle(&s))
	name.SetText(s.Name)
	f.Submit = func() func(context.Context) error {
		text := name.Text
		return func(ctx context.Context) error {
			return u.changeMark(ctx, &s, func(m *app.Mark) { m.Name = text })
		}
	}
	f.Open(widgets.Hint("Rollcall keeps the name and shows it in lists, the menu and notifications. The agent's files stay as they are. Without a name, the agent's title is shown."),
		widgets.Named("Name", name))
	f.Focus(name)
}

// mark changes the user's notes about a session. It returns at once.
func (u *UI) mark(s *app.Session, change func(*app.Mark)) {
	u.try("", func() error { return u.changeMark(u.ctx, s, change) })
}

// changeMark stores a change of the notes about a session, and reads the sessions again.
func (u *UI) changeMark(ctx context.Context, s *app.Session, change func(*app.Mark)) error {
	err := u.options.Marks.Change(ctx, s.Agent, s.ID, change)
	if err == nil {
		go u.core.Refresh(u.ctx)
	}
	return err
}
