package ui

import (
	"context"
	"errors"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/store/quiet"
	"rollcall/app/ui/widgets"
)

// maxGroups is the largest number of groups that the menu lists.
const maxGroups = 10

// showMenu opens the menu of the list, below the button b.
func (p *sessionsPage) showMenu(b fyne.CanvasObject) {
	u := p.ui
	if u.options.Quiet == nil {
		u.host.ShowMenuBelow(b, p.menuItems())
		return
	}
	widgets.InBackground(u.ctx, u.host, func(context.Context) (quiet.State, error) { return u.options.Quiet.Get() }, func(state quiet.State, err error) {
		if err != nil {
			u.notify(present.Error(err))
		}
		u.host.ShowMenuBelow(b, append(u.quietItems(state), p.menuItems()...))
	})
}

// quietItems returns the items that turn do not disturb on and off.
func (u *UI) quietItems(state quiet.State) []*fyne.MenuItem {
	item := func(text string, change func() error) *fyne.MenuItem {
		return fyne.NewMenuItem(text, func() { u.try("", change) })
	}
	if state.Active(u.host.Now()) {
		return []*fyne.MenuItem{item("End do not disturb", u.options.Quiet.Off), fyne.NewMenuItemSeparator()}
	}
	on := func(until time.Time) func() error {
		return func() error {
			_, err := u.options.Quiet.On(u.host.Now(), until)
			return err
		}
	}
	return []*fyne.MenuItem{item("Do not disturb for 1 hour", on(u.host.Now().Add(time.Hour))),
		item("Do not disturb until tomorrow", on(quiet.Tomorrow(u.host.Now()))), fyne.NewMenuItemSeparator()}
}

// menuItems returns the items that act on several sessions, or change what the list shows.
func (p *sessionsPage) menuItems() []*fyne.MenuItem {
	u := p.ui
	stop := fyne.NewMenuItem("Stop idle sessions…", u.upkeep.StopIdle)
	cleanUp := fyne.NewMenuItem("Clean up…", u.upkeep.CleanUp)
	cleanUp.Disabled = u.options.Table == nil
	orphans := fyne.NewMenuItem("Processes left behind…", u.upkeep.EndOrphans)
	orphans.Disabled = u.options.Table == nil
	items := []*fyne.MenuItem{stop, cleanUp, orphans, fyne.NewMenuItem("Refresh", u.Refresh)}
	grouping := map[bool]string{true: "status", false: "project"}[p.grouped]
	items = append(items, fyne.NewMenuItem("Group by "+grouping, func() {
		p.grouped = !p.grouped
		u.feed.SetGrouped(p.grouped)
	}))
	if s, ok := p.view.ByKey[p.selected]; ok {
		if item := u.muteItem(s); item != nil {
			items = append(items, item)
		}
	}
	if groups := listing.LaunchGroups(p.view.Snapshot); len(groups) > 0 {
		items = append(items, fyne.NewMenuItemSeparator())
		for _, g := range groups[:min(len(groups), maxGroups)] {
			items = append(items, fyne.NewMenuItem("Show only group "+present.Cut(present.Short(g), 40), func() { u.showGroup(g) }))
		}
	}
	return items
}

// muteItem returns the menu item that mutes the folder of a session, or unmutes a muted one; nil: the folder cannot be muted.
func (u *UI) muteItem(s *app.Session) *fyne.MenuItem {
	if u.options.Live == nil || !s.HasLocalFolder() {
		return nil
	}
	set, _ := u.options.Live.Get()
	folder, muted := s.CWD, set.Notifications.IsMuted(s.CWD)
	verb := map[bool]string{true: "Unmute", false: "Mute"}[muted]
	return fyne.NewMenuItem(verb+" project "+present.Cut(present.Project(folder), 30), func() { u.mute(folder, !muted) })
}

// mute mutes the sessions in a folder if on is set, and unmutes them otherwise.
func (u *UI) mute(folder string, on bool) {
	live := u.options.Live
	u.try("", func() error {
		err := settings.Mute(live.Path(), folder, on)
		live.Read()
		if set, _ := live.Get(); err == nil && set.Notifications.IsMuted(folder) != on {
			return errors.New(folder + " is muted by a pattern in the settings; change it there (Ctrl+,)")
		}
		return err
	})
}
