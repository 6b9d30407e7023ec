// Package ui contains the pages of Rollcall's window: the sessions and their details, the agents, launches, and the
// locks and timers of folders. It never imports fyne.io/fyne/v2/app, so it builds and can be tested without cgo, a
// display or OpenGL. Package widgets has the controls that the pages consist of.
//
// Everything that an agent wrote is cleaned by package present before it is shown. A goroutine of this package turns
// snapshots into rows; Fyne's goroutine only shows them.
package ui

import (
	"context"
	"os"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/follow"
	"rollcall/app/listing"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/marks"
	"rollcall/app/owned/notices"
	"rollcall/app/present"
	"rollcall/app/self/autostart"
	"rollcall/app/settings"
	"rollcall/app/store/quiet"
	"rollcall/app/ui/agentspage"
	"rollcall/app/ui/launchpage"
	"rollcall/app/ui/missedpage"
	"rollcall/app/ui/settingspage"
	"rollcall/app/ui/upkeep"
	"rollcall/app/ui/usagepage"
	"rollcall/app/ui/widgets"
	"rollcall/bounded"
	"rollcall/proc"
)

// Core is the part of the core that the window requires; *app.Core implements it.
type Core interface {
	launchpage.Core
	upkeep.Core
	// Subscribe calls f for each new snapshot, one call at a time.
	Subscribe(f func(*app.Snapshot)) (cancel func())
	// Peek and Follow read the conversation of a session, and report that it has changed.
	Peek(ctx context.Context, s app.Session, n int) ([]adapters.Message, error)
	Follow(ctx context.Context, s app.Session, changed func())
	// Search and Around read the conversations of all sessions.
	Search(ctx context.Context, q app.SearchQuery, found func(app.SearchHit) bool, progress func(app.SearchReport)) (app.SearchReport, error)
	Around(ctx context.Context, agent adapters.Name, id, key string) (app.Around, error)
	// CountsLeftBehind counts what sessions left behind.
	CountsLeftBehind(ctx context.Context) (counts app.LeftCounts, unknown []adapters.Name, err error)
}

// Options contains what New requires in addition to the core.
type Options struct {
	// Window shows the content. New uses it for dialogs, the focus and shortcuts, and does not set its content. It is
	// required.
	Window fyne.Window
	// Days is the number of days for which stopped sessions are listed; 0: all that the core lists.
	Days int
	// Agents are the adapters of all agents. Those that implement adapters.Launcher can be launched.
	Agents []adapters.Adapter
	// Launches and Fuses store launches, locks and timers. If they are nil, the window offers none of these.
	Launches *launch.Launches
	Fuses    *fuse.Fuses
	// Table reads this machine's processes. If it is nil, the window offers no clean-up.
	Table proc.Lister
	// Program is the path of Rollcall itself, for terminals to run.
	Program string
	// KeepEnv makes launches keep the variables that an adapter would remove from its agent's environment.
	KeepEnv bool
	// Marks keeps the user's names for sessions, and which are pinned or hidden; nil: the window offers none of these.
	Marks *marks.Marks
	// Notices are the notifications that the tray showed last; nil: they are not known.
	Notices *notices.Notices
	// Machines runs commands on other machines; nil: there are none.
	Machines launch.Machines
	// Live has the user's settings, which the window shows and changes; nil: there are no settings.
	Live *settings.Live
	// LogFolder is the folder of the logs of launches and of the keeper; empty: it is not known.
	LogFolder string
	// Autostart turns the start of the tray at login on and off; nil: the settings page does not offer that.
	Autostart *autostart.Entry
	// Version is the version of this program, which is compared with the newest one.
	Version string
	// Defaults are the agent, models and modes that the launch form begins with, and the variables that are left out.
	Defaults launch.Defaults
	// Shower shows terminals and opens folders; nil: the window offers neither.
	Shower Shower
	// Answers reads and answers the requests of sessions. It is required.
	Answers *answer.Answers
	// Quiet stores do not disturb; nil: the window does not offer it.
	Quiet *quiet.Quiet
	// TestNotification shows a notification, and returns why that failed; nil: the window does not offer it.
	TestNotification func(ctx context.Context) error
	// TrayHint returns a text about how the tray's icon becomes visible on this desktop; empty: it is visible. TrayHint may be nil.
	TrayHint func(ctx context.Context) string
}

// UI is the window's content. Its methods must be called on Fyne's goroutine, unless their comment says otherwise.
type UI struct {
	core   Core
	window fyne.Window
	days   int
	do     func(func())
	host   *widgets.Host
	// environ returns the environment of launched agents.
	options Options
	environ func() []string
	// What a test replaces: see askHistory, runTerminal and the function placeNote.
	history      func(ctx context.Context, since time.Time) *app.Snapshot
	openTerminal func(folder string, program []string) (string, error)
	placeNote    func(path string) string

	feed     *follow.Sessions
	asking   answering
	after    func(time.Duration, func()) // calls a function on some goroutine after a time
	sessions *sessionsPage
	agents   *agentspage.Page
	launch   *launchpage.Page
	upkeep   *upkeep.Page
	search   *searchPage
	usage    *usagepage.Page
	settings *settingspage.Page
	welcome  *agentspage.Introduction
	missed   *missedpage.Page

	content   *fyne.Container
	pages     []page
	shortcuts map[fyne.KeyName]func()
	nav       *sidebar
	page      int
	scope     listing.Scope // the group that the list of sessions is limited to

	ctx    context.Context // ends with Close
	cancel func()
	ended  func() // ends the subscription
	closed sync.Once
}

// The pages.
const (
	pageSessions = iota
	pageAgents
	pageLaunch
	pageLocks
	pageSearch
	pageUsage
	pageSettings
	pageMissed
	pageIntroduction // the first window shows it, and the menu opens it
)

// New builds the content and keeps it up to date until Close. It must be called on Fyne's goroutine, with widgets.Theme
// set in the application's settings.
func New(core Core, o Options) *UI {
	return newUI(core, o, fyne.Do, time.Now)
}

func newUI(core Core, o Options, do func(func()), now func() time.Time) *UI {
	u := &UI{core: core, window: o.Window, days: o.Days, do: do, options: o, placeNote: placeNote, environ: os.Environ,
		after: func(d time.Duration, f func()) { time.AfterFunc(d, f) }}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	u.history, u.openTerminal = u.askHistory, u.runTerminal
	u.host = &widgets.Host{Window: o.Window, Context: u.ctx, Post: u.post, Key: u.typedKey, Shortcut: u.shortcut,
		Notify: u.notify, ErrorText: present.Error, Now: now, Opened: u.sheetOpened}
	u.feed = follow.NewSessions(u.ctx, do, now, o.Days, u.apply)
	u.scope = listing.AllGroups
	u.nav = newSidebar(u)
	u.sessions = newSessionsPage(u)
	u.agents = agentspage.New(u.host, func(place string) string { return u.placeNote(place) })
	u.launch = launchpage.New(launchpage.Window{Host: u.host, Core: core, Agents: o.Agents, Launches: o.Launches, Fuses: o.Fuses, Machines: o.Machines, Table: o.Table, Live: o.Live,
		Defaults: o.Defaults, KeepEnv: o.KeepEnv, Program: o.Program, Environ: func() []string { return u.environ() },
		OpenTerminal: func(folder string, program []string) (string, error) { return u.openTerminal(folder, program) },
		View:         func() *listing.View { return u.sessions.view }, Show: u.Show, ShowSessions: u.opens(pageSessions), ShowLocks: u.opens(pageLocks),
		ShowGroup: u.showGroup, Compare: func(dir, group string) { u.upkeep.Compare(dir, group) }})
	u.upkeep = upkeep.New(upkeep.Window{Host: u.host, Core: core, Launches: o.Launches, Fuses: o.Fuses, Table: o.Table, Environ: func() []string { return u.environ() },
		CanPrompt: o.Answers.CanPrompt, Show: u.Show, Ended: u.sessions.readLeft})
	u.search = newSearchPage(u)
	u.usage = usagepage.New(usagepage.Window{Host: u.host, Agents: o.Agents, Settings: u.set, ShowAgents: u.opens(pageAgents),
		History: func(ctx context.Context, since time.Time) *app.Snapshot { return u.history(ctx, since) }})
	u.settings = settingspage.New(settingspage.Window{Host: u.host, Live: o.Live, Autostart: o.Autostart, Version: o.Version})
	u.welcome = agentspage.NewIntroduction(agentspage.Window{Host: u.host, Test: o.TestNotification, TrayHint: o.TrayHint, ShowSessions: u.opens(pageSessions), ShowSettings: u.ShowSettings})
	u.missed = missedpage.New(missedpage.Window{Host: u.host, Notices: o.Notices, View: func() *listing.View { return u.sessions.source }, Show: u.Show, ShowRequest: u.ShowRequest})
	u.pages = u.allPages()
	u.content = u.frame()
	u.open(pageSessions)
	u.addShortcuts()
	u.feed.SetSnapshot(core.Snapshot())
	u.ended = core.Subscribe(u.feed.SetSnapshot)
	u.startAnswering()
	go u.tick()
	if o.Live != nil {
		go u.followSettings(o.Live.Changes())
	}
	return u
}

func (u *UI) frame() *fyne.Container {
	pages := container.NewStack()
	for _, p := range u.pages {
		pages.Add(p.content)
	}
	whole := u.nav.frame(pages)
	return container.New(widgets.Layout{Arrange: func(_ []fyne.CanvasObject, size fyne.Size) {
		widgets.Place(whole, 0, 0, size.Width, size.Height)
		if u.host.Sheet != nil {
			u.host.Sheet.Fit() // Fyne does not resize a dialog with the window
		}
	}, Least: func([]fyne.CanvasObject) fyne.Size { return whole.MinSize() }}, whole)
}

// page is one of the window's pages. Its functions may be nil.
type page struct {
	content fyne.CanvasObject
	focus   func() fyne.Focusable // returns the widget that gets the focus; nil: no widget gets it
	opened  func()                // called when the page is shown
	refresh func()                // reads again what the page shows in addition to the snapshot
	ages    func()                // shows the ages as they are now
	show    func(*app.Snapshot)   // shows the agents of a snapshot, when the page is opened and then for each new one and as they age
	panes   *panes                // its list and details
}

// allPages returns the pages, by their numbers.
func (u *UI) allPages() []page {
	return []page{
		pageSessions:     {content: u.sessions.content, panes: u.sessions.panes, focus: u.sessions.focus, opened: u.sessions.detail.request.opened, ages: u.sessions.showAges},
		pageAgents:       {content: u.agents.Content, show: u.agents.Show},
		pageLaunch:       {content: u.launch.Content, focus: u.launch.Focus, opened: u.launch.Look},
		pageLocks:        {content: u.upkeep.Content, opened: u.upkeep.Look, refresh: u.upkeep.Look, ages: u.upkeep.ShowAges},
		pageSearch:       {content: u.search.content, panes: u.search.panes, focus: func() fyne.Focusable { return u.search.entry }, refresh: u.search.again},
		pageUsage:        {content: u.usage.Content, opened: u.usage.Look, refresh: u.usage.Look},
		pageSettings:     {content: u.settings.Content, opened: u.settings.Look},
		pageMissed:       {content: u.missed.Content, opened: u.missed.Look, refresh: u.missed.Look, ages: u.missed.Look},
		pageIntroduction: {content: u.welcome.Content, focus: func() fyne.Focusable { return u.welcome.Done }, opened: u.welcome.Look, show: u.welcome.Show},
	}
}

// sheetOpened is called when a sheet opens. It returns a function that sets the focus again when that sheet is closed.
func (u *UI) sheetOpened() (restore func()) {
	page := u.page
	return func() {
		if page != u.page { // the widget that had the focus is on a hidden page
			u.focusPage()
		}
	}
}

// Content returns the object that the window shows. It is always the same.
func (u *UI) Content() fyne.CanvasObject { return u.content }

// Show opens the list of sessions. Unless id is empty, it shows the session with that id, or the only one whose id
// begins with it, now or as soon as it is listed.
func (u *UI) Show(id string) {
	u.open(pageSessions)
	if id == "" {
		return
	}
	if u.scope == listing.NeedsYou {
		u.showAllGroups()
	}
	u.sessions.wanted = id
	u.sessions.panes.show(true)
	u.sessions.apply(u.sessions.source)
}

// ShowLaunch opens the launch page.
func (u *UI) ShowLaunch() { u.open(pageLaunch) }

// ShowIntroduction opens the page for users who start Rollcall for the first time.
func (u *UI) ShowIntroduction() { u.open(pageIntroduction) }

// ShowSettings opens the settings.
func (u *UI) ShowSettings() { u.open(pageSettings) }

// Warn shows a warning above the list of sessions and replaces an earlier one; an empty text removes it. Warn may be
// called from any goroutine.
func (u *UI) Warn(text string) {
	u.post(func() {
		u.sessions.warning = present.Short(text)
		u.sessions.apply(u.sessions.source)
	})
}

// notify shows an error above the list of sessions until the user dismisses it. It is for actions whose page or
// dialog is closed.
func (u *UI) notify(text string) { u.offerUndo(text, nil) }

// offerUndo shows what the user did, with a button that takes it back. Without undo it does what notify does.
func (u *UI) offerUndo(text string, undo func()) {
	u.sessions.notice = present.Short(text)
	u.sessions.undoing = undo
	u.sessions.apply(u.sessions.source)
}

// try calls do on another goroutine, and shows its error after the text failed.
func (u *UI) try(failed string, do func() error) {
	go func() {
		if err := do(); err != nil {
			u.post(func() { u.notify(failed + present.Error(err)) })
		}
	}()
}

// Refresh reads all agents again, and sorts the list. It returns at once.
func (u *UI) Refresh() {
	u.feed.Sort()
	u.launch.Look()
	widgets.Call(u.pages[u.page].refresh)
	go u.core.Refresh(u.ctx)
}

// Close ends the updates; after Close nothing runs on Fyne's goroutine. Close may be called more than once, and from
// any goroutine except those that call the functions of the core's subscriptions.
func (u *UI) Close() {
	u.closed.Do(func() {
		u.cancel()
		u.ended()
		u.asking.quit()
		<-u.feed.Done
	})
}

// post runs f on Fyne's goroutine, unless the UI is closed.
func (u *UI) post(f func()) {
	if u.ctx.Err() == nil {
		u.do(f)
	}
}

// ageStep is the interval at which ages are updated.
const ageStep = 15 * time.Second

func (u *UI) tick() {
	for bounded.Wait(u.ctx, ageStep) == nil {
		u.post(u.showAges)
	}
}

// followSettings shows what follows from changed settings on the pages that were read before, until the window is closed.
func (u *UI) followSettings(changed <-chan struct{}) {
	for {
		select {
		case <-u.ctx.Done():
			return
		case <-changed:
			u.post(u.usage.Show)
		}
	}
}

func (u *UI) showAges() {
	if u.ctx.Err() != nil {
		return
	}
	widgets.Call(u.pages[u.page].ages)
	u.showSnapshot()
}

// apply shows a new view on every page.
func (u *UI) apply(v *listing.View) {
	u.sessions.apply(v)
	u.nav.count()
	u.showSnapshot()
	u.launch.Apply(v.Snapshot)
}

// showSnapshot shows the snapshot on the open page, if that page shows one.
func (u *UI) showSnapshot() {
	if show := u.pages[u.page].show; show != nil {
		show(u.sessions.view.Snapshot)
	}
}

// opens returns a function that shows a page.
func (u *UI) opens(page int) func() { return func() { u.open(page) } }

// open shows a page.
func (u *UI) open(page int) {
	if page != u.page {
		defer u.focusPage()
	}
	u.page = page
	for i, p := range u.pages {
		widgets.SetVisible(p.content, i == page)
	}
	u.nav.mark()
	u.showSnapshot()
	widgets.Call(u.pages[page].opened)
}
