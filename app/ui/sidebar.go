package ui

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/describe"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/ui/launchpage"
	"rollcall/app/ui/missedpage"
	"rollcall/app/ui/widgets"
)

// sidebar chooses what the window shows: what waits for the user, all sessions or those with a status, search and usage. Below them are the button for a new agent and
// the menu of everything else. In a narrow window it is a row of icons above the page.
type sidebar struct {
	ui            *UI
	box           *fyne.Container
	scopes        []*widgets.Tab // in the order of scopes
	search, usage *widgets.Tab
	launch        *widgets.Button
	gear          *widgets.Tab
	isNarrow      bool // the window is narrower than narrowWindow
}

func newSidebar(u *UI) *sidebar {
	s := &sidebar{ui: u}
	for i, of := range []struct{ text, icon string }{{"Needs you", "waiting"}, {"All sessions", "list"}, {"Working", "working"}, {"Idle", "idle"}, {"Stopped", "stopped"}} {
		s.scopes = append(s.scopes, u.host.NewTab(of.text, of.icon, func() { u.showScope(listing.Scopes[i]) }))
	}
	s.search = u.host.NewTab("Search", "search", u.opens(pageSearch))
	s.usage = u.host.NewTab("Usage", "usage", u.opens(pageUsage))
	s.launch = u.host.NewPrimaryButton(launchpage.Title, widget.HighImportance, u.ShowLaunch)
	s.launch.Icon = widgets.NewIcon("add", theme.ColorNameForegroundOnPrimary)
	s.gear = u.host.NewTab("More", "gear", func() { u.host.ShowMenuBelow(s.gear, u.moreItems()) })
	gap, wide := canvas.NewRectangle(color.Transparent), canvas.NewRectangle(color.Transparent)
	gap.SetMinSize(fyne.NewSize(0, sidebarPad))                 // between the sessions and the other pages, in a column
	wide.SetMinSize(fyne.NewSize(sidebarIcons-2*sidebarPad, 0)) // of the button, in a row
	s.box = container.New(sidebarColumn)
	for i, t := range s.tabs() {
		if i == len(s.scopes) {
			s.box.Add(gap)
		}
		s.box.Add(t.Content)
	}
	s.box.Objects = append(s.box.Objects, layout.NewSpacer(), container.NewStack(wide, s.launch), s.gear.Content)
	return s
}

// tabs returns the tabs above the button, in their order.
func (s *sidebar) tabs() []*widgets.Tab {
	return append(slices.Clone(s.scopes), s.search, s.usage)
}

const (
	// narrowWindow is the width below which the sidebar is a row of icons, and a page shows a list or the details.
	narrowWindow = 720
	// smallWindow is the width below which the sidebar is a column of icons.
	smallWindow  = 900
	sidebarWidth = 168
	sidebarIcons = 58 // its width as a column of icons
	sidebarRow   = 44 // the height of the row of icons
	sidebarPad   = 7
)

// The layouts of the entries.
var sidebarColumn, sidebarLine = layout.NewCustomPaddedVBoxLayout(3), layout.NewCustomPaddedHBoxLayout(2)

// frame arranges the sidebar and the pages, which are separated by rule.
func (s *sidebar) frame(pages fyne.CanvasObject) *fyne.Container {
	rule, content := widget.NewSeparator(), widgets.Pad(sidebarPad, sidebarPad, sidebarPad, sidebarPad, s.box)
	return container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		s.setCompact(size.Width < smallWindow)
		s.isNarrow = size.Width < narrowWindow
		if s.isNarrow {
			s.box.Layout = sidebarLine
			widgets.Place(content, 0, 0, size.Width, sidebarRow)
			widgets.Place(rule, 0, sidebarRow, size.Width, 1)
			widgets.Place(pages, 0, sidebarRow+1, size.Width, size.Height-sidebarRow-1)
			return
		}
		width := map[bool]float32{true: sidebarIcons, false: sidebarWidth}[size.Width < smallWindow]
		s.box.Layout = sidebarColumn
		widgets.Place(content, 0, 0, width, size.Height)
		widgets.Place(rule, width, 0, 1, size.Height)
		widgets.Place(pages, width+1, 0, size.Width-width-1, size.Height)
	}, Least: func([]fyne.CanvasObject) fyne.Size { // of the narrow form
		return fyne.NewSize(max(pages.MinSize().Width, 400), pages.MinSize().Height+sidebarRow+1)
	}}, content, rule, pages)
}

func (s *sidebar) setCompact(on bool) {
	for _, t := range s.tabs() {
		t.SetCompact(on)
	}
	s.gear.SetCompact(on)
	if text := present.When(!on, launchpage.Title); s.launch.Text != text {
		s.launch.SetText(text)
	}
}

// mark shows which page is open.
func (s *sidebar) mark() {
	page, scope := s.ui.page, s.ui.scope
	for i, t := range s.scopes {
		t.SetActive(page == pageSessions && scope == listing.Scopes[i])
	}
	s.search.SetActive(page == pageSearch)
	s.usage.SetActive(page == pageUsage)
	s.gear.SetActive(page == pageSettings || page == pageAgents || page == pageLocks || page == pageMissed)
}

// count shows how many sessions each group has, how many requests wait, and on the menu how many agents can't be read.
func (s *sidebar) count() {
	v := s.ui.sessions.view
	s.scopes[0].SetCount(len(s.ui.asking.asked), widgets.ColorWaiting)
	for i, g := range listing.Scopes {
		if g != listing.AllGroups && g != listing.NeedsYou {
			s.scopes[i].SetCount(v.Counts[g-1], widgets.ColorMuted)
		}
	}
	s.gear.SetCount(len(describe.Failures(v.Snapshot)), widgets.ColorWaiting)
}

// showScope opens the list of sessions, limited to a group.
func (u *UI) showScope(g listing.Scope) {
	u.setScope(g)
	u.sessions.panes.show(false)
	u.open(pageSessions)
}

// setScope limits the list of sessions to a group. The selection begins again.
func (u *UI) setScope(g listing.Scope) {
	if u.scope != g {
		u.scope = g
		u.sessions.chosen = false
		u.sessions.settled = false
		u.sessions.scroll = true
		u.sessions.place = 0
		if g == listing.NeedsYou {
			g = listing.AllGroups // the requests are listed from the agents' answers, not by a status
		}
		u.feed.SetScope(g)
		u.sessions.apply(u.sessions.source)
		u.nav.mark()
	}
}

// showAllGroups shows every group in the list, and keeps the selection.
func (u *UI) showAllGroups() {
	u.scope = listing.AllGroups
	u.feed.SetScope(listing.AllGroups)
	u.nav.mark()
}

// moreItems returns the menu of what is needed rarely.
func (u *UI) moreItems() []*fyne.MenuItem {
	agents := "Agents"
	if failed := describe.Names(describe.Failures(u.sessions.view.Snapshot)); len(failed) > 0 {
		agents += ": " + present.Join(failed) + " can't be read"
	}
	return []*fyne.MenuItem{
		fyne.NewMenuItem("Settings", u.opens(pageSettings)), fyne.NewMenuItem(agents, u.opens(pageAgents)), fyne.NewMenuItem("Locks & timers", u.opens(pageLocks)),
		fyne.NewMenuItem(missedpage.Title, u.opens(pageMissed)), fyne.NewMenuItem("Refresh", u.Refresh), fyne.NewMenuItemSeparator(),
		fyne.NewMenuItem("Keyboard shortcuts (?)", u.showShortcuts), fyne.NewMenuItem("Introduction", u.ShowIntroduction), fyne.NewMenuItem("About Rollcall", u.showAbout),
	}
}

// shortcuts are the keys of the window, for people.
var shortcuts = [][2]string{
	{"Ctrl+0 … Ctrl+6", "Needs you, All sessions, Working, Idle, Stopped, Search, Usage"}, {"Ctrl+N", "New agent"}, {"Ctrl+,", "Settings"},
	{"Ctrl+K", "Go to a session, an action, a page or a setting"}, {"Ctrl+F", "Find in the conversation; Enter or F3 goes on, Shift+F3 back"},
	{"/", "Filter the list"}, {"Page Up, Page Down, Home, End", "Scroll the conversation, unless the list has the focus"}, {"F5", "Read all agents again"},
	{"↑ ↓ Enter", "Choose and open a row"}, {"→ ←", "Unfold and fold"}, {"A, then Y", "Allow once (Needs you); Y where it is not known to be harmless"},
	{"D, Enter", "Deny (Needs you); before Enter you may say why"}, {"1 … 9", "Choose an option (Needs you)"}, {"Alt+P, H, S, M", "Pin, hide, snooze for 1 hour, mute the session, or take it back"},
	{"Ctrl+Enter", "Send, launch"}, {"Esc", "Close, clear the filter"}, {"Esc, Alt+Left", "Back from the details, in a narrow window"}, {"Ctrl+W", "Close the window"},
}

// showShortcuts shows all keys.
func (u *UI) showShortcuts() {
	s := u.host.NewSheet("Keyboard shortcuts", widgets.SheetWidth)
	var body []fyne.CanvasObject
	for _, k := range shortcuts {
		body = append(body, widgets.Named(k[0], widgets.Paragraph(k[1], widget.MediumImportance)))
	}
	s.ShowResult([]fyne.CanvasObject{widgets.Rows(-8, body...)})
}

// showAbout shows the version, the licence and where Rollcall's own files are.
func (u *UI) showAbout() {
	s := u.host.NewSheet("About Rollcall", widgets.SheetWidth)
	fields := describe.WithValue(describe.Field{Name: "Version", Value: u.options.Version}, describe.Field{Name: "Licence", Value: "MIT"}, describe.Field{Name: "Logs", Value: u.options.LogFolder})
	if u.options.Live != nil {
		fields = append(fields, describe.Field{Name: "Settings", Value: u.options.Live.Path()})
	}
	var body []fyne.CanvasObject
	for _, f := range fields {
		body = append(body, widgets.Fact(f.Name, widgets.NewSelectText(present.Short(f.Value))))
	}
	s.ShowResult([]fyne.CanvasObject{widgets.Rows(-4, body...), widgets.Hint("Rollcall reads what your agents store, sends nothing anywhere and changes nothing of theirs.")})
}

// showGroup lists the sessions of a group of launches.
func (u *UI) showGroup(name string) {
	u.host.CloseSheet()
	u.open(pageSessions)
	u.sessions.filter.SetText(name)
}
