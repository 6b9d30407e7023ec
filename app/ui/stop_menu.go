package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/settings"
)

// maxGroups is the largest number of groups that the menu lists.
const maxGroups = 10

// showMenu opens the menu with actions on several sessions, below the button b.
func (p *sessionsPage) showMenu(b fyne.CanvasObject) {
	u := p.ui
	stop := fyne.NewMenuItem("Stop idle sessions…", u.showStopIdle)
	_, can := u.core.(stopper)
	stop.Disabled = !can
	cleanUp := fyne.NewMenuItem("Clean up…", u.showCleanup)
	cleanUp.Disabled = u.options.Table == nil
	items := []*fyne.MenuItem{stop, cleanUp, fyne.NewMenuItem("Refresh", u.Refresh)}
	grouping := "Group by project"
	if p.grouped {
		grouping = "Group by status"
	}
	items = append(items, fyne.NewMenuItem(grouping, func() {
		p.grouped = !p.grouped
		u.feed.setGrouped(p.grouped)
	}))
	if s, ok := p.view.byKey[p.selected]; ok {
		if item := u.muteItem(s); item != nil {
			items = append(items, item)
		}
	}
	if groups := launchGroups(p.view.snapshot); len(groups) > 0 {
		items = append(items, fyne.NewMenuItemSeparator())
		for _, g := range groups[:min(len(groups), maxGroups)] {
			items = append(items, fyne.NewMenuItem("Show only group "+present.Cut(short(g), 40), func() { u.showGroup(g) }))
		}
	}
	u.showMenuBelow(b, items)
}

// showMenuBelow opens a menu below the button b.
func (u *UI) showMenuBelow(b fyne.CanvasObject, items []*fyne.MenuItem) {
	c := u.window.Canvas()
	menu := widget.NewPopUpMenu(fyne.NewMenu("", items...), c)
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b)
	size := menu.MinSize()
	x, y := min(at.X, c.Size().Width-size.Width-4), at.Y+b.Size().Height+2
	if y+size.Height > c.Size().Height {
		y = at.Y - size.Height - 2
	}
	menu.ShowAtPosition(fyne.NewPos(max(x, 0), max(y, 0)))
}

// muteItem returns the menu item that mutes the folder of a session, or unmutes a muted one; nil: the folder cannot be muted.
func (u *UI) muteItem(s *app.Session) *fyne.MenuItem {
	if u.options.Live == nil || !s.HasLocalFolder() {
		return nil
	}
	set, _ := u.options.Live.Get()
	folder, muted := s.CWD, set.Notifications.IsMuted(s.CWD)
	text := "Mute project " + present.Cut(present.Project(folder), 30)
	if muted {
		text = "Unmute project " + present.Cut(present.Project(folder), 30)
	}
	return fyne.NewMenuItem(text, func() { u.mute(folder, !muted) })
}

// mute mutes the sessions in a folder if on is set, and unmutes them otherwise.
func (u *UI) mute(folder string, on bool) {
	live := u.options.Live
	go func() {
		err := settings.Mute(live.Path(), folder, on)
		live.Read()
		set, _ := live.Get()
		u.post(func() {
			switch {
			case err != nil:
				u.notify(errorText(err))
			case set.Notifications.IsMuted(folder) != on:
				u.notify(short(folder) + " is muted by a pattern in the settings. Change it there (Ctrl+,).")
			}
		})
	}()
}

// launchGroups returns the groups of launches that have a session, in the order of the list.
func launchGroups(s *app.Snapshot) []string {
	var out []string
	seen := map[string]bool{"": true}
	for x := range s.All() {
		if g := launchGroup(x); !seen[g] {
			seen[g] = true
			out = append(out, g)
		}
	}
	return out
}
