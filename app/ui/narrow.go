package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/ui/widgets"
)

// panes shows a list and the details of what is chosen in it side by side. In a narrow window it shows one of them: the list, or once something was chosen the
// details, below a button that leads back.
type panes struct {
	ui       *UI
	content  *fyne.Container
	split    *container.Split
	list     fyne.Focusable // gets the focus when the list is shown again
	turned   func()         // called when the details are shown instead of the list; nil: nothing is to be done
	isNarrow bool
	isChosen bool // something was chosen: a narrow window shows the details
}

// newPanes returns the panes of a page. share is the part of the width that the first pane gets until the user drags the line between them.
func newPanes(u *UI, first, second fyne.CanvasObject, share float64, list fyne.Focusable) *panes {
	p := &panes{ui: u, split: container.NewHSplit(first, second), list: list}
	back := widgets.Columns(0, u.host.NewFlatButton("Back", widgets.PlainIcon("back"), func() { u.goBack() }))
	// Fyne paints the divider as a bar in the colour of shadows. A hairline covers it; what is dragged is still the bar.
	cover := canvas.NewRectangle(nil)
	line := widget.NewSeparator()
	bar := widgets.TextSize(theme.SizeNameSplitThickness)
	p.split.Trailing = container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		cover.FillColor = widgets.ThemeColor(theme.ColorNameBackground) // which Fyne arranges again when the theme changes
		top := map[bool]float32{true: back.MinSize().Height}[p.isNarrow]
		back.Hidden, cover.Hidden, line.Hidden = !p.isNarrow, p.isNarrow, p.isNarrow
		widgets.Place(back, 4, 0, size.Width-4, top)
		widgets.Place(second, 0, top, size.Width, size.Height-top)
		widgets.Place(cover, -bar, 0, bar, size.Height)
		widgets.Place(line, -bar/2, 0, 1, size.Height)
	}, Least: func([]fyne.CanvasObject) fyne.Size { return second.MinSize() }}, back, second, cover, line)
	p.split.SetOffset(share)
	p.content = container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		p.isNarrow = u.nav.isNarrow
		p.set()
		p.content.Objects[0].Resize(size)
	}, Least: func([]fyne.CanvasObject) fyne.Size { // not the sum of both panes, so that the window can become narrow
		return first.MinSize().Max(second.MinSize())
	}}, p.split)
	return p
}

// showsDetails reports whether the details are visible while the page is open.
func (p *panes) showsDetails() bool { return p.isChosen || !p.isNarrow }

// show makes a narrow window show the details, or the list.
func (p *panes) show(details bool) {
	p.isChosen = details
	p.set()
}

// set shows both panes, or one in place of the other. What is no longer visible loses the focus.
func (p *panes) set() {
	var o fyne.CanvasObject = p.split
	switch {
	case p.isNarrow && p.isChosen:
		o = p.split.Trailing
	case p.isNarrow:
		o = p.split.Leading
	}
	if p.content.Objects[0] == o {
		return
	}
	p.content.Objects = []fyne.CanvasObject{o}
	widgets.Place(o, 0, 0, p.content.Size().Width, p.content.Size().Height)
	o.Refresh()
	p.ui.host.Focus(p.ui.window.Canvas().Focused())
	if p.showsDetails() {
		widgets.Call(p.turned)
	}
}

// goBack shows the session in place of what changed, or else in a narrow window the list of the page in place of the details. It reports whether it did.
func (u *UI) goBack() bool {
	if u.page == pageSessions && u.sessions.detail.leaveChanges() {
		return true
	}
	p := u.pages[u.page].panes
	if p == nil || !p.isNarrow || !p.isChosen {
		return false
	}
	p.show(false)
	u.host.Focus(p.list)
	return true
}
