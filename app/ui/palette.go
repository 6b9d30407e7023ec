package ui

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/launchpage"
	"rollcall/app/ui/widgets"
	"rollcall/textmatch"
)

// palette finds a session, an action of the selected session, a page or a setting by a few letters. What it runs are the functions of the buttons, menu items
// and tabs: it has no action of its own.
type palette struct {
	ui     *UI
	sheet  *widgets.Sheet
	entry  *widgets.Entry
	all    []paletteItem
	found  []paletteItem
	tabs   []*widgets.Tab // of found
	active int            // index in found
}

// paletteItem is an entry of the palette.
type paletteItem struct {
	text, icon string
	do         func()
}

// mostFound is how many commands the palette shows.
const mostFound = 9

// showPalette opens the palette.
func (u *UI) showPalette() {
	p := &palette{ui: u, all: u.commands()}
	p.sheet = u.host.NewSheet("Go to", widgets.SheetWidth)
	p.entry = u.host.NewEntry("A session, an action, a page or a setting", func(string) { p.find() })
	p.entry.OnSubmitted = func(string) { p.run(p.active) }
	p.entry.Key = p.key
	p.find()
	p.sheet.Focus(p.entry)
}

// commands returns everything that the palette finds: first what can be done with the selected session, then pages, settings and sessions.
func (u *UI) commands() (all []paletteItem) {
	add := func(text, icon string, do func()) { all = append(all, paletteItem{text, icon, do}) }
	items := func(list []*fyne.MenuItem, icon, of string) {
		for _, i := range list {
			if !i.IsSeparator && !i.Disabled {
				add(i.Label+of, icon, i.Action)
			}
		}
	}
	if d := u.sessions.detail; u.page == pageSessions && d.session != nil {
		of := " · " + present.Cut(describe.Title(d.session), 60)
		items(d.moreItems(d.session), "more", of) // first what ends nothing: Enter runs the first one
		for _, b := range []*widgets.Button{d.terminal, d.resume, d.goOn, d.stop} {
			showsRequest := b == d.terminal && d.request.has // Enter never shows a terminal in which a request waits
			if b.Visible() && !b.Disabled() && !showsRequest {
				add(b.Text+of, "more", b.OnTapped)
			}
		}
	}
	for _, t := range u.nav.tabs() {
		add(t.Text(), "list", t.OnTapped)
	}
	add(launchpage.Title, "add", u.nav.launch.OnTapped)
	items(u.moreItems(), "list", "")
	for _, s := range u.settings.Names {
		add(s.Text+" · Settings", "gear", func() {
			u.ShowSettings()
			u.host.Focus(s.Field)
		})
	}
	for s := range u.sessions.source.Snapshot.All() {
		text := present.Cut(describe.Title(s), 80) + " · " + present.Project(s.CWD) + " · " + strings.TrimSpace(present.AgentName(s.Agent)+" "+describe.Account(s))
		add(text, facts.StatusIcon(&s.Session).File, func() { u.Show(s.ID) })
	}
	return all
}

// find shows the commands that have the letters of the entry, the best first. Without letters they are all, in their order.
func (p *palette) find() {
	ranks := map[string]int{}
	p.found = slices.DeleteFunc(slices.Clone(p.all), func(c paletteItem) bool {
		n, ok := textmatch.Rank(c.text, p.entry.Text)
		ranks[c.text] = n
		return !ok
	})
	slices.SortStableFunc(p.found, func(x, y paletteItem) int { return ranks[y.text] - ranks[x.text] })
	p.found = p.found[:min(len(p.found), mostFound)]
	p.active = 0
	p.tabs = nil
	rows := widgets.Rows(0)
	for i, c := range p.found {
		t := p.ui.host.NewTab(c.text, c.icon, func() { p.run(i) })
		t.SetActive(i == p.active)
		p.tabs = append(p.tabs, t)
		rows.Add(t.Content)
	}
	if len(p.found) == 0 {
		rows.Add(widgets.Hint("Nothing has “" + present.Cut(present.Line(p.entry.Text), 40) + "”. The letters of sessions, actions, pages and settings are compared."))
	}
	p.sheet.Show([]fyne.CanvasObject{widgets.Inset(p.entry), widgets.Pad(6, 0, 6, 6, rows), widgets.Hint("Up and Down choose, Enter opens, Esc closes")})
}

// key moves the choice up and down, from the last command to the first one.
func (p *palette) key(ev *fyne.KeyEvent) bool {
	step := map[fyne.KeyName]int{fyne.KeyDown: 1, fyne.KeyUp: -1}[ev.Name]
	if n := len(p.found); step != 0 && n > 0 {
		p.active = (p.active + step + n) % n
		for i, t := range p.tabs {
			t.SetActive(i == p.active)
		}
	}
	return step != 0
}

// run closes the palette and runs a command.
func (p *palette) run(i int) {
	if i < len(p.found) {
		p.sheet.Close()
		p.found[i].do()
	}
}
