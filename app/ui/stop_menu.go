package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/present"
)

// maxGroups is the largest number of groups that the menu lists.
const maxGroups = 10

// showMenu opens the menu for several sessions below the button b.
func (p *sessionsPage) showMenu(b fyne.CanvasObject) {
	u := p.ui
	stop := fyne.NewMenuItem("Stop idle sessions…", u.showStopIdle)
	_, can := u.core.(stopper)
	stop.Disabled = !can
	cleanUp := fyne.NewMenuItem("Clean up…", u.showCleanup)
	cleanUp.Disabled = u.options.Table == nil
	items := []*fyne.MenuItem{stop, cleanUp}
	if groups := launchGroups(p.view.snapshot); len(groups) > 0 {
		items = append(items, fyne.NewMenuItemSeparator())
		for _, g := range groups[:min(len(groups), maxGroups)] {
			items = append(items, fyne.NewMenuItem("Show only group "+present.Cut(short(g), 40), func() { u.showGroup(g) }))
		}
	}
	c := u.window.Canvas()
	menu := widget.NewPopUpMenu(fyne.NewMenu("", items...), c)
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b)
	size := menu.MinSize()
	x := min(at.X, c.Size().Width-size.Width-4)
	menu.ShowAtPosition(fyne.NewPos(max(x, 0), at.Y+b.Size().Height+2))
}

// launchGroups returns the groups of launches that have a session, in the order of the list.
func launchGroups(s *app.Snapshot) []string {
	var out []string
	seen := map[string]bool{"": true}
	for i := range s.Sessions {
		if g := launchGroup(&s.Sessions[i]); !seen[g] {
			seen[g] = true
			out = append(out, g)
		}
	}
	return out
}
