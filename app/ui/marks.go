package ui

import (
	"cmp"
	"context"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/app/store/quiet"
	"rollcall/app/ui/widgets"
)

// markItems returns the items that name, pin, hide, snooze and mute a session; none if Rollcall keeps no notes about it.
func (u *UI) markItems(s *app.Session) []*fyne.MenuItem {
	if u.options.Marks == nil || s.CanMark() != nil {
		return nil
	}
	x := *s
	mark := func(label string, change func(*app.Mark)) *fyne.MenuItem {
		return fyne.NewMenuItem(label, func() { u.mark(&x, change) })
	}
	pin := mark(map[bool]string{true: "Unpin", false: "Pin"}[s.Pinned], func(m *app.Mark) { m.Pinned = !x.Pinned })
	mute := mark(map[bool]string{true: "Unmute", false: "Mute"}[s.Muted], func(m *app.Mark) { m.Muted = !x.Muted })
	items := []*fyne.MenuItem{fyne.NewMenuItem("Rename…", func() { u.showRename(x) }), withKey(pinKey, pin)}
	return append(append(items, u.awayItems(&x)...), withKey(muteKey, mute))
}

// awayItems returns the items that hide or snooze a session, or list it again.
func (u *UI) awayItems(s *app.Session) []*fyne.MenuItem {
	hide := fyne.NewMenuItem("Hide", func() {
		u.putAway(s, "hidden", func(m *app.Mark) error {
			m.Hidden = true
			return nil
		})
	})
	if s.Hidden {
		hide = fyne.NewMenuItem("Don't hide", func() { u.mark(s, func(m *app.Mark) { m.Hidden = false }) })
	}
	withKey(hideKey, hide)
	snooze := func(label, until string, at func(now time.Time) time.Time) *fyne.MenuItem {
		return fyne.NewMenuItem(label, func() {
			u.putAway(s, "snoozed "+until, func(m *app.Mark) error {
				z, err := app.NewSnooze(s, u.host.Now(), at(u.host.Now()))
				if err == nil {
					m.Snooze = z
				}
				return err
			})
		})
	}
	switch {
	case s.Snoozed:
		return []*fyne.MenuItem{hide, withKey(snoozeKey, fyne.NewMenuItem("End snooze", func() { u.mark(s, func(m *app.Mark) { m.Snooze = app.Snooze{} }) }))}
	case s.Status == adapters.Waiting:
		return []*fyne.MenuItem{hide}
	}
	return []*fyne.MenuItem{hide,
		withKey(snoozeKey, snooze("Snooze for 1 hour", "for 1 hour", func(now time.Time) time.Time { return now.Add(time.Hour) })),
		snooze("Snooze until tomorrow", "until tomorrow", quiet.Tomorrow),
		snooze("Snooze until it changes", "until it changes", func(time.Time) time.Time { return time.Time{} }),
	}
}

// putAway hides or snoozes a session, and offers to take that back. It returns at once.
func (u *UI) putAway(s *app.Session, done string, change func(*app.Mark) error) {
	var was app.Mark
	u.try("", func() error {
		var refused error
		err := u.changeMark(u.ctx, s, func(m *app.Mark) {
			was = *m
			refused = change(m)
		})
		if err = cmp.Or(refused, err); err != nil {
			return err
		}
		undo := func() {
			u.mark(s, func(m *app.Mark) {
				m.Hidden = was.Hidden
				m.Snooze = was.Snooze
			})
		}
		u.post(func() { u.offerUndo("“"+present.Cut(describe.Title(s), 60)+"” is "+done+".", undo) })
		return nil
	})
}

// showRename opens the form that gives a session a name.
func (u *UI) showRename(s app.Session) {
	f := u.host.NewForm("Rename the session", "Rename", "The session was not renamed: ")
	name := f.NewEntry(describe.Title(&s))
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
